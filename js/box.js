// @ts-check
// Where all of an element is, for a picture of it.

/**
 * `tabd.box({ref|selector,nth, prefix,next,end, budget_ms})`: waits until the element is shown, scrolls it into view where it
 * is not, and measures it.
 *
 * -> `{x, y, width, height, target, next}`: the box around all that the element is drawn in, in this frame's viewport, once it
 * has stood still for a frame. Errors: `stale_ref not_found ambiguous bad_request not_visible`.
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
      if (left <= 0 || !obstacle || !isPassing(obstacle)) return /** @type {Failure} */ (obstacle);
      await nextChange(Math.min(left, 250));
      continue;
    }
    if (!isInView(el)) reveal(el, 0);
    const bounds = boundsOf(el), now = JSON.stringify(bounds);
    if (now === before || isAtRest(el) || left <= 0) {
      return { x: bounds.left, y: bounds.top, width: bounds.right - bounds.left, height: bounds.bottom - bounds.top, target: described(el, args) };
    }
    before = now;
    await nextFrame();
  }
}

/**
 * @param {Element} el
 * @returns {Bounds}
 */
function boundsOf(el) {
  const boxes = boxesOf(el);
  const all = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const b of boxes) {
    all.left = Math.min(all.left, b.left);
    all.top = Math.min(all.top, b.top);
    all.right = Math.max(all.right, b.right);
    all.bottom = Math.max(all.bottom, b.bottom);
  }
  return all;
}
