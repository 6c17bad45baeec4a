// @ts-check
// Dragging: where to drop, and whether the page has begun a drag of its own kind.

/**
 * `tabd.dropSpot({ref|selector,nth, prefix,next,end, position?, budget_ms})`: waits until the element is shown, scrolls it
 * into view and says where to drop on it, without a test of what is on top: what is dragged often is. Does not end the action
 * under way.
 *
 * -> `{x, y, target, next}`. Errors: `stale_ref not_found ambiguous bad_request not_visible`.
 * @param {Locator & {position?: Point | null, budget_ms: number}} args
 * @returns {Promise<object>}
 */
async function dropSpot(args) {
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
    if (!isInView(el, args.position)) reveal(el, 0, args.position);
    const place = placeOf(el);
    if (place !== before && left > 0) {
      before = place;
      await nextFrame();
      continue;
    }
    const own = spotOf(el, args.position);
    const spot = 'point' in own ? own : spotOf(el, args.position, true);
    if ('point' in spot) return { ...spot.point, target: described(el, args) };
    return failure('not_visible', `${wordsFor(described(el, args))} is outside of the viewport, and scrolling does not bring it in`, 'open or scroll what holds it, then read again');
  }
}

/**
 * `tabd.dragging({prefix,next,end})`: what has come of the press and the moves so far, in this document.
 *
 * -> `{native, hit?, by?, dropped, next}`: `native`: the page lets the browser drag (HTML drag and drop); `hit`, `by` as of
 * `settle`; `dropped`: something took the drop.
 * @param {Lease} args
 * @returns {object}
 */
function dragging(args) {
  const act = pulse.act;
  const start = act?.dragStart;
  const by = act?.press?.by;
  return {
    native: start !== undefined && start !== null && !start.defaultPrevented,
    hit: act?.press?.hit,
    by: by && dom.isConnected(by) ? described(by, args) : undefined,
    dropped: act?.dropped ?? false,
  };
}

/**
 * Notes what becomes of HTML drag and drop during an action.
 * @param {Act} act
 */
function noteDrags(act) {
  const started = (/** @type {DragEvent} */ event) => { if (event.isTrusted) act.dragStart = event; };
  const dropped = (/** @type {DragEvent} */ event) => { if (event.isTrusted) act.dropped = true; };
  addEventListener('dragstart', started, { capture: true, passive: true });
  addEventListener('drop', dropped, { capture: true, passive: true });
  act.undo.push(() => { removeEventListener('dragstart', started, true); removeEventListener('drop', dropped, true); });
}
