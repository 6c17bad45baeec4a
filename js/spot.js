// @ts-check
// The point to press so that an element gets it.

/** @typedef {{x: number, y: number}} Point viewport CSS pixels of this frame */

/**
 * A point that belongs to an element and is on top there; else what is on top instead.
 * `via` is the label that stands for it where the point is on one.
 * @typedef {{point: Point, via?: Element} | {by: Element} | {away: true}} Spot `away`: nothing of it is in the viewport
 */

/**
 * @param {Element} el
 * @param {{x: number, y: number} | null} [position] a point from the upper left corner of the element, and no other
 * @param {boolean} [force] without the hit test
 * @returns {Spot}
 */
function spotOf(el, position, force) {
  const own = spotIn(el, el, position, force);
  if ('point' in own || position) return own;
  const label = shownLabel(el);
  if (!label) return own;
  const other = spotIn(label, el, null, force);
  if ('point' in other) return { ...other, via: label };
  return 'away' in own ? other : own;
}

/**
 * @param {Element} shown whose boxes are tried
 * @param {Element} el which must get the press
 * @param {{x: number, y: number} | null} [position]
 * @param {boolean} [force]
 * @returns {Spot}
 */
function spotIn(shown, el, position, force) {
  /** @type {Element | undefined} */
  let by;
  /** @type {Point | undefined} */
  let second;
  for (const point of pointsOf(shown, position)) {
    if (force) return { point };
    const hit = topAt(point.x, point.y);
    if (!hit) continue;
    const way = reaches(hit, el);
    if (way === 'itself') return { point };
    // A card's own point is better than its button's; where all of the card is a button, the button's will do.
    if (way === 'within') second ??= point;
    else by ??= hit;
  }
  if (second) return { point: second };
  return by ? { by } : { away: true };
}

/**
 * Points of an element in the viewport, best first: the middle of what can be seen of its boxes, the larger ones first,
 * then a grid in each, and along the line of a drawn path.
 * @param {Element} el
 * @param {{x: number, y: number} | null} [position]
 * @returns {Generator<Point>}
 */
function* pointsOf(el, position) {
  const view = viewportBox();
  if (position) {
    const box = unionOf(boxesOf(el));
    const point = box && { x: box.left + position.x, y: box.top + position.y };
    if (point && isPointIn(point, view)) yield point;
    return;
  }
  const clip = clipOf(el);
  const all = boxesOf(el);
  let boxes = visibleParts(all, clip);
  if (!boxes.length) boxes = visibleParts(all, view);
  const outline = htmlName(el) === 'area' ? areaOutline(el) : null;
  boxes.sort((a, b) => areaOf(b) - areaOf(a));
  for (const box of boxes.slice(0, 8)) {
    for (const [fx, fy] of GRID) {
      const point = pointIn(box, fx, fy);
      if (!outline || isInOutline(point, outline)) yield point;
    }
  }
  for (const point of linePoints(el)) if (isPointIn(point, view)) yield point;
}

/** Where in a box to try: its middle, then around, then near the corners. */
const GRID = Object.freeze([
  [0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75],
  [0.08, 0.5], [0.92, 0.5], [0.5, 0.08], [0.5, 0.92], [0.05, 0.05], [0.95, 0.05], [0.05, 0.95], [0.95, 0.95],
]);

/**
 * @param {Bounds[]} boxes
 * @param {Bounds | undefined} clip
 * @returns {Bounds[]}
 */
function visibleParts(boxes, clip) {
  return clip ? boxes.map((b) => intersect(b, clip)).filter((b) => b !== undefined) : [];
}

/**
 * @param {Bounds} box
 * @returns {number}
 */
function areaOf(box) {
  return (box.right - box.left) * (box.bottom - box.top);
}

/**
 * @param {Bounds[]} boxes
 * @returns {Bounds | undefined}
 */
function unionOf(boxes) {
  if (!boxes.length) return undefined;
  return boxes.reduce((a, b) => ({ left: Math.min(a.left, b.left), top: Math.min(a.top, b.top), right: Math.max(a.right, b.right), bottom: Math.max(a.bottom, b.bottom) }));
}

/**
 * A point of a box, on whole pixels where the box has one there: mouse events are told in whole pixels.
 * @param {Bounds} box
 * @param {number} fx
 * @param {number} fy
 * @returns {Point}
 */
function pointIn(box, fx, fy) {
  const x = box.left + (box.right - box.left) * fx, y = box.top + (box.bottom - box.top) * fy;
  const wholeX = Math.floor(x), wholeY = Math.floor(y);
  return { x: wholeX >= box.left ? wholeX : x, y: wholeY >= box.top ? wholeY : y };
}

/**
 * @param {Point} point
 * @param {Bounds} box
 * @returns {boolean}
 */
function isPointIn(point, box) {
  return point.x >= box.left && point.x < box.right && point.y >= box.top && point.y < box.bottom;
}

/**
 * Whether a point is inside of a polygon (even-odd).
 * @param {Point} point
 * @param {Point[]} corners
 * @returns {boolean}
 */
function isInOutline(point, corners) {
  let inside = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
    const a = corners[i], b = corners[j];
    if (a.y > point.y !== b.y > point.y && point.x < ((b.x - a.x) * (point.y - a.y)) / (b.y - a.y) + a.x) inside = !inside;
  }
  return inside;
}

/** SVG elements that are one line or shape, of which a grid may miss every point. */
const SHAPES = new Set(['path', 'line', 'polyline', 'polygon', 'circle', 'ellipse', 'rect']);

/**
 * Points on the line of an SVG shape.
 * @param {Element} el
 * @returns {Point[]}
 */
function linePoints(el) {
  if (dom.namespace(el) !== SVG_NS || !SHAPES.has(dom.localName(el))) return [];
  try {
    const matrix = control.matrixOf(el), length = control.lengthOf(el);
    if (!matrix) return [];
    return [0.5, 0.25, 0.75, 0.1, 0.9].map((f) => {
      const p = control.pointAt(el, length * f);
      return { x: matrix.a * p.x + matrix.c * p.y + matrix.e, y: matrix.b * p.x + matrix.d * p.y + matrix.f };
    });
  } catch {
    return []; // a shape that is not drawn has no length
  }
}

/**
 * A shown label of a form control: what its user presses where the control itself is hidden.
 * @param {Element} el
 * @returns {Element | null}
 */
function shownLabel(el) {
  if (!['input', 'select', 'textarea', 'button', 'meter', 'output', 'progress'].includes(htmlName(el))) return null;
  const root = dom.rootOf(el);
  if (root !== document && !(root instanceof ShadowRoot)) return null;
  for (const label of dom.queryAll(/** @type {Document | ShadowRoot} */ (root), 'label')) {
    if (dom.labelControl(label) === el && dom.checkVisibility(label, { visibilityProperty: true }) && boxesOf(label).length) return label;
  }
  return null;
}
