// @ts-check
// What the host language gives as a name (HTML-AAM 1.0 4.1, SVG-AAM 1.0 7.2).

/** @typedef {{text: string, from: string}} Named */

/** Elements a label can label (HTML 4.10.2); custom ones may be too.
 * @type {Set<string>} */
const LABELABLE = new Set(['button', 'input', 'meter', 'output', 'progress', 'select', 'textarea']);

/** Labels of a control, in tree order, from one pass over the tree's labels:
 * `control.labels` looks through the whole document again for each control.
 * @param {Facts} f @returns {Element[]} */
function labelsOf(f) {
  const r = reading();
  const root = rootOfFacts(f);
  let map = r.labels.get(root);
  if (!map) {
    map = new Map();
    for (const label of dom.queryAll(root, 'label')) {
      const control = dom.labelControl(label);
      if (!control) continue;
      const labels = map.get(control);
      if (labels) labels.push(label);
      else map.set(control, [label]);
    }
    r.labels.set(root, map);
  }
  return map.get(f.el) ?? [];
}

/** The text of a control's labels that are not hidden, '' if there is none.
 * @param {Facts} f @param {Walk} walk @returns {string} */
function labelText(f, walk) {
  if (!LABELABLE.has(f.tag) && !f.tag.includes('-')) return '';
  const labels = labelsOf(f);
  if (labels.length === 0) return '';
  const parts = [];
  const inner = { ...walk, skip: f };
  for (const label of labels) {
    const l = factsOf(label);
    if (factsHidden(l) || (ariaInherited(l) & ARIA_HIDDEN)) continue;
    const aria = l.hasAria ? dom.attr(label, 'aria-label') : null;
    const text = folded(isText(aria) ? /** @type {string} */ (aria) : contentText(l, inner));
    if (text !== '') parts.push(text);
  }
  walk.special++;
  return parts.join(' ');
}

/** The name HTML or SVG gives, before content, tooltip and placeholder.
 * @param {Facts} f @param {Walk} walk @returns {Named | null} */
function hostName(f, walk) {
  const labels = labelText(f, walk);
  if (labels !== '') return { text: labels, from: 'label' };
  const text = hostText(f, walk);
  return text !== null && isText(text) ? { text: folded(text), from: 'host' } : null;
}

/** The alternative text of an element, null if its kind has none.
 * @param {Facts} f @param {Walk} walk @returns {string | null} */
function hostText(f, walk) {
  switch (f.tag) {
    case 'img': case 'area':
      return f.bare ? '' : dom.attr(f.el, 'alt') ?? '';
    case 'input':
      return inputText(f);
    case 'option':
      return f.bare || !isText(dom.attr(f.el, 'label')) ? null : dom.attr(f.el, 'label');
    case 'optgroup':
      return dom.attr(f.el, 'label') ?? '';
    case 'fieldset':
      return childText(f, 'legend', walk);
    case 'table':
      return childText(f, 'caption', walk) ?? (f.bare ? null : dom.attr(f.el, 'summary'));
    case 'abbr':
      // HTML-AAM abbr: the expansion is its name.
      return f.hasTitle && isText(dom.attr(f.el, 'title')) ? dom.attr(f.el, 'title') : null;
    case 'svg:a': {
      const title = svgTitleElement(f);
      if (title) return dom.textContent(title);
      return f.bare ? null : dom.attr(f.el, 'xlink:title');
    }
    default:
      if (!f.tag.startsWith('svg:')) return null;
      return svgTitleElement(f) ? svgTitle(f) : null;
  }
}

/** The text on an input that is a button (HTML-AAM 4.1.3, 4.1.4).
 * @param {Facts} f @returns {string | null} */
function inputText(f) {
  switch (dom.inputType(f.el)) {
    case 'submit':
      return dom.attr(f.el, 'value') ?? 'Submit';
    case 'reset':
      return dom.attr(f.el, 'value') ?? 'Reset';
    case 'button':
      return dom.attr(f.el, 'value') ?? '';
    case 'image':
      for (const name of ['alt', 'value', 'title']) if (isText(dom.attr(f.el, name))) return dom.attr(f.el, name);
      return 'Submit';
    case 'file':
      return isText(dom.attr(f.el, 'title')) ? dom.attr(f.el, 'title') : 'Choose File';
    default:
      return null;
  }
}

/** The text of the first child of a kind: legend (HTML-AAM 4.1.7), caption (4.1.9).
 * @param {Facts} f @param {string} tag @param {Walk} walk @returns {string | null} */
function childText(f, tag, walk) {
  for (let el = dom.firstElement(f.el); el; el = dom.nextElement(el)) {
    if (dom.localName(el) !== tag) continue;
    const child = factsOf(el);
    if (!walk.hiddenToo && (factsHidden(child) || ariaToken(child, 'aria-hidden') === 'true')) return null;
    return contentText(child, walk);
  }
  return null;
}
