// @ts-check
// Scrolling an element to where it can be pressed.

/** Where to put an element, in the order of trying: the middle is free of bars at either edge. */
const PLACES = Object.freeze(/** @type {ScrollLogicalPosition[]} */ (['center', 'end', 'start']));

/** A box is in view when this much of its width and of its height is, or all of it where it is smaller. */
const ENOUGH_PX = 40;

/**
 * Whether enough of the element to press is in the viewport and not clipped away; with a position, that point.
 * @param {Element} el
 * @param {Point | null} [position]
 * @returns {boolean}
 */
function isInView(el, position) {
  const clip = clipOf(el), boxes = boxesOf(el);
  if (!clip) return false;
  if (position) {
    const box = unionOf(boxes);
    return box !== undefined && isPointIn({ x: box.left + position.x, y: box.top + position.y }, clip);
  }
  return boxes.some((box) => {
    const part = intersect(box, clip);
    return part !== undefined && part.right - part.left >= Math.min(box.right - box.left, ENOUGH_PX) - 0.5 &&
      part.bottom - part.top >= Math.min(box.bottom - box.top, ENOUGH_PX) - 0.5;
  });
}

/**
 * Scrolls all that holds the element, at once, whatever the page's `scroll-behavior` says.
 * @param {Element} el
 * @param {number} attempt from 0; each puts it elsewhere
 * @param {Point | null} [position] the point of it that is to be seen
 * @returns {boolean} whether it is somewhere else now
 */
function reveal(el, attempt, position) {
  const block = PLACES[attempt], before = placeOf(el);
  const shown = htmlName(el) === 'area' ? areaImage(el) : dom.checkVisibility(el, { visibilityProperty: true }) ? el : shownLabel(el);
  let box = shown ?? el;
  if (!withArea(dom.rectsOf(box)).length) box = firstWithBox(box) ?? box;
  control.scrollIntoView(box, { behavior: 'instant', block, inline: attempt === 0 ? 'center' : 'nearest' });
  const whole = position && unionOf(boxesOf(el));
  if (position && whole && !isPointIn({ x: whole.left + position.x, y: whole.top + position.y }, viewportBox())) {
    const view = viewportBox(), scroller = scrollerOf(flatParent(el));
    control.scrollTo(scroller, {
      behavior: 'instant',
      left: control.scrollLeft(scroller) + whole.left + position.x - view.right / 2,
      top: control.scrollTop(scroller) + whole.top + position.y - view.bottom / 2,
    });
  }
  return placeOf(el) !== before;
}

/**
 * @param {Element} el
 * @returns {Element | undefined}
 */
function firstWithBox(el) {
  for (const child of flatChildren(el)) {
    if (!isElement(child)) continue;
    if (withArea(dom.rectsOf(child)).length) return child;
    const inner = firstWithBox(child);
    if (inner) return inner;
  }
  return undefined;
}

/**
 * Whether scrolling could bring the element out from under `hit`: it, or what it is in, sticks to the viewport or to a
 * scroller that also holds the element, and leaves some of the viewport free.
 * @param {Element} hit
 * @param {Element} el
 * @returns {boolean}
 */
function canScrollFrom(hit, el) {
  for (let at = /** @type {Element | null} */ (hit); at; at = flatParent(at)) {
    const position = dom.styleOf(at).position;
    if (position !== 'fixed' && position !== 'sticky') continue;
    const r = dom.rectOf(at), view = viewportBox();
    return r.height < view.bottom * 0.9 || r.width < view.right * 0.9;
  }
  // What is painted over it otherwise moves along with it, unless it is outside of a scroller the element is in.
  for (let at = flatParent(el); at; at = flatParent(at)) {
    if (control.scrollHeight(at) > control.clientHeight(at) && dom.styleOf(at).overflowY !== 'visible' && htmlName(at) !== 'html' && htmlName(at) !== 'body') {
      for (let over = /** @type {Element | null} */ (hit); over; over = flatParent(over)) if (over === at) return false;
      return true;
    }
  }
  return false;
}
