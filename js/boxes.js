// @ts-check
// Where an element is: the boxes it is drawn in, and the part of them that can be seen.

/** @typedef {{left: number, top: number, right: number, bottom: number}} Bounds viewport CSS pixels */

/** How many boxes of an element, and how many elements in one without a box, are looked at. */
const MAX_BOXES = 64;

/**
 * The boxes of an element that have an area, in reading order: one for each line of a wrapped link, those of its content
 * where it has none itself (`display: contents`, an inline link around a block, a link of size zero around what sticks out).
 * @param {Element} el
 * @returns {Bounds[]}
 */
function boxesOf(el) {
  if (htmlName(el) === 'area') return areaBoxes(el);
  const own = withArea(dom.rectsOf(el));
  return own.length ? own : contentBoxes(el, { left: MAX_BOXES });
}

/**
 * @param {Iterable<DOMRect>} rects
 * @returns {Bounds[]}
 */
function withArea(rects) {
  const boxes = [];
  for (const r of rects) {
    if (r.width > 0 && r.height > 0) boxes.push({ left: r.left, top: r.top, right: r.right, bottom: r.bottom });
    if (boxes.length >= MAX_BOXES) break;
  }
  return boxes;
}

/**
 * @param {Element} el
 * @param {{left: number}} patience elements still to look at
 * @returns {Bounds[]}
 */
function contentBoxes(el, patience) {
  /** @type {Bounds[]} */
  const boxes = [];
  for (const child of flatChildren(el)) {
    if (boxes.length >= MAX_BOXES || patience.left-- <= 0) break;
    if (!isElement(child) || !dom.checkVisibility(child, { visibilityProperty: true })) continue;
    const own = withArea(dom.rectsOf(child));
    boxes.push(...(own.length ? own : contentBoxes(child, patience)));
  }
  return boxes;
}

/**
 * One rectangle that tells whether the element has moved: all of its boxes, as text.
 * @param {Element} el
 * @returns {string}
 */
function placeOf(el) {
  return boxesOf(el).map((b) => `${b.left},${b.top},${b.right},${b.bottom}`).join(' ');
}

/**
 * @param {Bounds} a
 * @param {Bounds} b
 * @returns {Bounds | undefined}
 */
function intersect(a, b) {
  const left = Math.max(a.left, b.left), top = Math.max(a.top, b.top);
  const right = Math.min(a.right, b.right), bottom = Math.min(a.bottom, b.bottom);
  return left < right && top < bottom ? { left, top, right, bottom } : undefined;
}

/** @returns {Bounds} the viewport without its scroll bars */
function viewportBox() {
  const root = /** @type {Element} */ (rootElement(document));
  const standards = compatMode(document) !== 'BackCompat';
  return { left: 0, top: 0, right: (standards && control.clientWidth(root)) || innerWidth, bottom: (standards && control.clientHeight(root)) || innerHeight };
}
const rootElement = /** @type {(doc: Document) => Element | null} */ (getter(Document.prototype, 'documentElement'));
const compatMode = /** @type {(doc: Document) => string} */ (getter(Document.prototype, 'compatMode'));

/**
 * The part of the viewport in which content of an element can show: within all that clips it. A guess from styles that
 * only orders the points to try; whether a point belongs is for the hit test to say.
 * @param {Element} el
 * @returns {Bounds | undefined} undefined where nothing of it can show
 */
function clipOf(el) {
  let clip = /** @type {Bounds | undefined} */ (viewportBox());
  let position = dom.styleOf(el).position;
  for (let at = flatParent(el); at && clip; at = flatParent(at)) {
    const name = htmlName(at);
    if (name === 'body' || name === 'html') break;
    const style = dom.styleOf(at);
    const contains = style.transform !== 'none' || style.filter !== 'none' || style.contain !== 'none' || style.perspective !== 'none';
    // https://drafts.csswg.org/css-position/#def-cb: what is positioned is clipped from its containing block upwards.
    if (position === 'fixed' && !contains) continue;
    if (position === 'absolute' && style.position === 'static' && !contains) continue;
    if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
      const r = dom.rectOf(at);
      clip = intersect(clip, { left: r.left, top: r.top, right: r.right, bottom: r.bottom });
    }
    position = style.position;
  }
  return clip;
}

/**
 * The image an `area` is on.
 * @param {Element} area
 * @returns {Element | null} null where none is shown
 */
function areaImage(area) {
  let map = elementAbove(area);
  while (map && htmlName(map) !== 'map') map = elementAbove(map);
  const name = map && (dom.attr(map, 'name') || dom.attr(map, 'id'));
  if (!name) return null;
  const root = /** @type {Document | ShadowRoot} */ (dom.rootOf(area));
  for (const img of dom.queryAll(root, 'img[usemap]')) {
    if (dom.attr(img, 'usemap')?.replace(/^.*#/, '') === name && withArea(dom.rectsOf(img)).length && dom.checkVisibility(img, { visibilityProperty: true })) return img;
  }
  return null;
}

/**
 * The outline of an `area` in the viewport, as corners; a circle as twelve.
 * https://html.spec.whatwg.org/#image-map-processing-model
 * @param {Element} area
 * @returns {{x: number, y: number}[]}
 */
function areaOutline(area) {
  const img = areaImage(area);
  if (!img) return [];
  // Chromium counts from the corner of the border box, whatever the image's padding and border.
  const r = dom.rectOf(img);
  const n = (dom.attr(area, 'coords') ?? '').split(/[\s,;]+/).map(Number.parseFloat).filter(Number.isFinite);
  const shape = (dom.attr(area, 'shape') ?? 'rect').toLowerCase();
  /** @type {[number, number][]} */
  let corners = [];
  if (shape.startsWith('circ') && n.length >= 3) {
    for (let i = 0; i < 12; i++) corners.push([n[0] + n[2] * Math.cos(i * Math.PI / 6), n[1] + n[2] * Math.sin(i * Math.PI / 6)]);
  } else if (shape.startsWith('poly') && n.length >= 6) {
    for (let i = 0; i + 1 < n.length; i += 2) corners.push([n[i], n[i + 1]]);
  } else if (shape.startsWith('default') || n.length < 4) {
    corners = [[0, 0], [r.width, 0], [r.width, r.height], [0, r.height]];
  } else {
    corners = [[n[0], n[1]], [n[2], n[1]], [n[2], n[3]], [n[0], n[3]]];
  }
  return corners.map(([x, y]) => ({ x: r.left + x, y: r.top + y }));
}

/**
 * @param {Element} area
 * @returns {Bounds[]}
 */
function areaBoxes(area) {
  const corners = areaOutline(area), img = areaImage(area);
  if (!corners.length || !img) return [];
  const xs = corners.map((p) => p.x), ys = corners.map((p) => p.y);
  const box = intersect({ left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) }, withArea([dom.rectOf(img)])[0]);
  return box ? [box] : [];
}
