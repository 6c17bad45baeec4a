// @ts-check
// Who can perceive an element: hidden from all users (ARIA 1.3 "hidden"), or
// from assistive technology alone (aria-hidden).

/** @typedef {{dialog: Element}} Modal */

const ARIA_HIDDEN = 1;
const ARIA_DISABLED = 2;

/** Elements whose light children are never rendered. @type {Set<string>} */
const CHILDLESS = new Set(['audio', 'video', 'iframe', 'img', 'embed', 'input', 'textarea', 'br', 'hr', 'meter', 'progress', 'svg:defs', 'svg:symbol', 'svg:clipPath', 'svg:mask', 'svg:pattern', 'svg:marker', 'svg:linearGradient', 'svg:radialGradient', 'svg:metadata', 'svg:title', 'svg:desc']);

/** Whether nobody can perceive an element: not rendered, invisible, inert,
 * or blocked by a modal dialog. One that merely has no size is not hidden.
 * @param {Element} el @returns {boolean} */
function isHidden(el) {
  return inReading(() => factsHidden(factsOf(el)));
}

/** Whether an element or an ancestor in the accessibility tree is aria-hidden.
 * @param {Element} el @returns {boolean} */
function isAriaHidden(el) {
  return inReading(() => (ariaInherited(factsOf(el)) & ARIA_HIDDEN) !== 0);
}

/** Whether an element's whole subtree is out of rendering: a walker may then
 * skip it. (An invisible element may have visible descendants.)
 * @param {Element} el @returns {boolean} */
function isSubtreeHidden(el) {
  return inReading(() => !isRendered(factsOf(el)));
}

/** @param {Facts} f @returns {boolean} */
function factsHidden(f) {
  if (!isRendered(f)) return true;
  styled(f);
  // CSS Display 4: hidden and collapsed boxes are invisible, their children may not be.
  return f.visibility !== 'visible' && f.tag !== 'area' && !(f.tag === 'option' || f.tag === 'optgroup');
}

/** Whether an element takes part in rendering, visible or not.
 * @param {Facts} f @returns {boolean} */
function isRendered(f) {
  if (f.rendered >= 0) return f.rendered === 1;
  // From the nearest known ancestor down: pages may be thousands of levels deep.
  /** @type {Facts[]} */
  const chain = [];
  /** @type {Facts | null} */
  let at = f;
  while (at && at.rendered < 0) {
    chain.push(at);
    at = upOf(at);
  }
  let parent = at;
  for (let i = chain.length - 1; i >= 0; i--) {
    const each = chain[i];
    each.rendered = rendersWithin(each, parent) ? 1 : 0;
    parent = each;
  }
  return f.rendered === 1;
}

/** @param {Facts} f @param {Facts | null} parent @returns {boolean} */
function rendersWithin(f, parent) {
  const modal = modalNow();
  if (modal && f.el === modal.dialog) {
    // HTML 6.4.2: a modal dialog escapes the inertness of what is around it.
    return styled(f).display !== 'none';
  }
  if (parent) {
    if (parent.rendered === 0 && !(modal && isFlatInside(modal.dialog, parent.el) && isDisplayed(parent))) return false;
    if (CHILDLESS.has(parent.tag)) return false;
    // HTML 15.5.16: a select shows its options only; its own button is drawn when the author styles it.
    if (parent.tag === 'select' && f.tag === 'button' && !/^base/.test(/** @type {any} */ (styled(parent).style).appearance)) return false;
    if (parent.tag === 'details' && !dom.detailsOpen(parent.el) && !isSummary(f, parent)) return false;
    // CSS Containment 4.1: skipped contents, `hidden=until-found` among them.
    if (skipsContents(parent)) return false;
  } else if (f.el !== dom.rootElement(document)) return false;
  styled(f);
  if (f.tag === 'area') {
    if (!isMapShown(f)) return false;
  } else if (f.display === 'none') return false;
  if (f.hasInert) return false;
  if (modal) return isFlatInside(f.el, modal.dialog) || isFlatInside(modal.dialog, f.el);
  return true;
}

/** @param {Facts} f @returns {boolean} */
function skipsContents(f) {
  if (f.skips < 0) f.skips = /** @type {any} */ (styled(f).style).contentVisibility === 'hidden' ? 1 : 0;
  return f.skips === 1;
}

/** Whether an area's image map is in use by an image that is shown.
 * @param {Facts} f @returns {boolean} */
function isMapShown(f) {
  const maps = (reading().maps ??= new Map());
  let map = upOf(f);
  while (map && map.tag !== 'map') map = upOf(map);
  if (!map) return false;
  const known = maps.get(map.el);
  if (known !== undefined) return known;
  maps.set(map.el, false);
  const name = dom.attr(map.el, 'name') ?? dom.attr(map.el, 'id') ?? '';
  for (const img of dom.queryAll(dom.rootOf(map.el), '[usemap]')) {
    if (dom.attr(img, 'usemap') === `#${name}` && !factsHidden(factsOf(img))) {
      maps.set(map.el, true);
      return true;
    }
  }
  return false;
}

/** @param {Facts} f @returns {boolean} */
function isDisplayed(f) {
  for (let at = /** @type {Facts | null} */ (f); at; at = upOf(at)) if (styled(at).display === 'none') return false;
  return true;
}

/** Whether an element is the summary of its parent details (HTML 4.11.2).
 * @param {Facts} f @param {Facts | null} parent @returns {boolean} */
function isSummary(f, parent) {
  if (f.tag !== 'summary' || parent?.tag !== 'details') return false;
  for (let el = dom.firstElement(parent.el); el; el = dom.nextElement(el)) {
    if (dom.localName(el) === 'summary') return el === f.el;
  }
  return false;
}

/** The modal dialog (or fullscreen element) that makes all else inert.
 * @returns {Modal | null} */
function modalNow() {
  const r = reading();
  if (r.modal === undefined) r.modal = findModal();
  return r.modal;
}

/** @returns {Modal | null} */
function findModal() {
  /** @type {Element[]} */
  const modals = [...dom.queryAll(document, ':modal')];
  for (const ref of closedHosts) {
    const host = ref.deref();
    const root = host && dom.isConnected(host) ? closedRoots.get(host) : undefined;
    if (root) modals.push(...dom.queryAll(root, ':modal'));
  }
  // One in an open shadow tree is found through the focus it took on opening.
  for (let el = focusedNow(); el; el = flatParent(el)) {
    if (dom.matches(el, ':modal')) {
      if (!modals.includes(el)) modals.push(el);
      break;
    }
  }
  if (modals.length === 0) return null;
  // The last opened has the focus; else the later in the tree is taken for it.
  const focus = focusedNow();
  const focused = focus && modals.filter((el) => isFlatInside(focus, el)).pop();
  return { dialog: focused ?? modals[modals.length - 1] };
}

/** What an element inherits from its accessibility ancestors, as bits.
 * @param {Facts} f @returns {number} */
function ariaInherited(f) {
  if (f.inherited >= 0) return f.inherited;
  /** @type {Facts[]} */
  const chain = [];
  /** @type {Facts | null} */
  let at = f;
  while (at && at.inherited < 0) {
    chain.push(at);
    at = ariaUp(at);
  }
  let bits = at ? at.inherited : 0;
  for (let i = chain.length - 1; i >= 0; i--) {
    const each = chain[i];
    if (each.hasAria) {
      if (ariaToken(each, 'aria-hidden') === 'true' && hidesItself(each)) bits |= ARIA_HIDDEN;
      if (ariaToken(each, 'aria-disabled') === 'true') bits |= ARIA_DISABLED;
    }
    each.inherited = bits;
  }
  return bits;
}

/** Chromium, as ARIA 1.3 asks, ignores aria-hidden on the page's root and body
 * and around what has the focus.
 * @param {Facts} f @returns {boolean} */
function hidesItself(f) {
  if (f.tag === 'html' || f.tag === 'body') return false;
  const focus = focusedNow();
  return !(focus && isFlatInside(focus, f.el));
}
