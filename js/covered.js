// @ts-check
// What lies over an element of a view, where it is in the viewport. One look at its middle: enough to warn before an action
// is tried, which looks for itself.

/**
 * The ref of what a press in the middle of an element would reach instead of it; undefined where the element is free, off
 * the viewport, or has no box.
 * @param {Element} el @param {Lease} lease
 * @returns {string | undefined}
 */
function coveredBy(el, lease) {
  const box = dom.rectOf(el);
  if (box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth || box.width < 1 || box.height < 1) return undefined;
  // Of a wrapped link the first line: the middle of its box may be beside it.
  const rect = dom.rectsOf(el)[0] ?? box;
  const x = (Math.max(0, rect.left) + Math.min(innerWidth, rect.right)) / 2, y = (Math.max(0, rect.top) + Math.min(innerHeight, rect.bottom)) / 2;
  const top = topAt(x, y);
  // What is around it is hit where it lets presses through, or is clipped there.
  if (!top || reaches(top, el) !== '' || isFlatInside(el, top)) return undefined;
  return describe(coverOf(top, el), lease).ref;
}
