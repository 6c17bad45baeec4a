// @ts-check
// What is on top at a point, and whether a press there would reach an element.

/**
 * The innermost element at a point of the viewport, through shadow roots; null outside of the viewport.
 * @param {number} x
 * @param {number} y
 * @returns {Element | null}
 */
function topAt(x, y) {
  const el = control.topIn(document, x, y);
  return el && innermostAt(el, x, y);
}

/**
 * What of a host's own tree is at the point, the host itself where nothing is.
 * @param {Element} el
 * @param {number} x
 * @param {number} y
 * @returns {Element}
 */
function innermostAt(el, x, y) {
  for (let root = shadowOf(el); root; root = shadowOf(el)) {
    const inner = control.topIn(root, x, y);
    // Beside its content a shadow root names what is around it.
    if (!inner || inner === el || dom.rootOf(inner) !== root) break;
    el = inner;
  }
  return el;
}

/** What takes a click for itself when it lies within a larger target. */
const OWN_CLICK = 'a[href], area[href], button, input, select, textarea, label, summary, option, iframe, [contenteditable=""], [contenteditable="true"], [tabindex], [onclick], [role="button"], [role="link"], [role="checkbox"], [role="radio"], [role="switch"], [role="tab"], [role="menuitem"], [role="option"]';

/**
 * Whether a press on `hit` would reach `el`: its event passes there, or `hit` is in the label of `el`.
 * @param {Element} hit
 * @param {Element} el
 * @returns {'' | 'itself' | 'within'} `within`: through something inside of `el` that takes clicks for itself
 */
function reaches(hit, el) {
  /** @type {'itself' | 'within'} */
  let way = 'itself';
  for (let at = /** @type {Element | null} */ (hit); at; at = flatParent(at)) {
    if (at === el) return way;
    if (htmlName(at) === 'label') {
      const labelled = dom.labelControl(at);
      // A link or a button in a label takes the click for itself.
      if (labelled && labelled === el) return way === 'itself' ? 'itself' : '';
    }
    if (dom.matches(at, OWN_CLICK)) way = 'within';
  }
  return '';
}

/**
 * The element to name as what covers `el`: of what is around `hit` but not around `el`, a dialog or the like where there
 * is one, else `hit` where it says something, else the outermost.
 * @param {Element} hit
 * @param {Element} el
 * @returns {Element}
 */
function coverOf(hit, el) {
  const around = new Set();
  for (let at = /** @type {Element | null} */ (el); at; at = flatParent(at)) around.add(at);
  let outermost = hit;
  for (let at = /** @type {Element | null} */ (hit); at && !around.has(at); at = flatParent(at)) {
    if (dom.matches(at, 'dialog, [role="dialog"], [role="alertdialog"], [popover]')) return at;
    outermost = at;
  }
  if (around.has(hit)) return hit;
  return dom.matches(hit, OWN_CLICK + ', [role], [aria-label], img, iframe, header, footer, nav') ? hit : outermost;
}
