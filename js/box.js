// @ts-check
// Where all of an element is, for a picture of it.

/**
 * `tabd.box({ref|selector,nth, budget_ms, prefix,next,end})`: waits until the element is shown, scrolls it into view where
 * it is not, and measures it once it stands still, at the latest when the budget has run out.
 *
 * -> `{left, top, right, bottom, next}`: the box around all that it is drawn in, in this frame's viewport.
 * Errors: `stale_ref not_found ambiguous bad_request not_visible`.
 * @param {Locator & {budget_ms: number}} args
 * @returns {Promise<object>}
 */
async function box(args) {
  const end = performance.now() + args.budget_ms;
  for (let before = '';;) {
    const el = elementFor(args);
    const obstacle = isFailure(el) ? el : isShown(el) ? undefined : obstacleOf(el, { ...args, force: true });
    const left = end - performance.now();
    if (isFailure(el) || obstacle) {
      const outcome = /** @type {Failure} */ (obstacle);
      if (left <= 0 || !isPassing(outcome)) return outcome;
      await nextChange(Math.min(left, 100));
      continue;
    }
    if (!isWhollyIn(el)) reveal(el, 0);
    const place = placeOf(el);
    if (place === before || left <= 0 || (before === '' && isAtRest(el))) return { ...unionOf(boxesOf(el)) };
    before = place;
    await nextFrame();
  }
}

/**
 * Whether no part of an element is outside of what shows it; one that is too large to fit may be.
 * @param {Element} el
 * @returns {boolean}
 */
function isWhollyIn(el) {
  const all = unionOf(boxesOf(el)), clip = clipOf(el);
  if (!all || !clip) return false;
  const fits = (/** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ from, /** @type {number} */ to) =>
    high - low > to - from ? low < to && high > from : low >= from - 1 && high <= to + 1;
  return fits(all.left, all.right, clip.left, clip.right) && fits(all.top, all.bottom, clip.top, clip.bottom);
}
