// @ts-check
// The accessible name and description (accname 1.2 4.3).

/** Roles named by their content (ARIA 1.3 5.2.8.5), and Chromium's term.
 * @type {Set<string>} */
const CONTENT_NAMED = new Set(['button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'option', 'radio', 'rowheader', 'switch', 'tab', 'term', 'tooltip', 'treeitem',
  'doc-backlink', 'doc-biblioref', 'doc-glossref', 'doc-noteref', 'doc-subtitle']);

/** Roles a tooltip does not name (ARIA 1.3 5.2.8.6, naming prohibited): it describes them.
 * @type {Set<string>} */
const UNNAMED_ROLES = new Set(['caption', 'code', 'definition', 'deletion', 'emphasis', 'generic', 'insertion', 'mark', 'none', 'paragraph',
  'strong', 'subscript', 'suggestion', 'superscript', 'time']);

/** References within references followed before they are taken as they are. */
const MAX_NESTED_NAMES = 16;
let nestedNames = 0;

/** The accessible name, white space folded, uncut; '' if there is none.
 * @param {Element} el @returns {string} */
function nameOf(el) {
  return inReading(() => nameOfFacts(factsOf(el)));
}

/** Which step named an element: `labelledby`, `aria-label`, `label`, `host`,
 * `content`, `title`, `placeholder`, or '' for no name.
 * @param {Element} el @returns {string} */
function nameSourceOf(el) {
  return inReading(() => {
    const f = factsOf(el);
    nameOfFacts(f);
    return f.nameFrom;
  });
}

/** The text of an element's content as a name would have it, whatever its
 * role: what to call a nameless thing that can be clicked.
 * @param {Element} el @returns {string} */
function contentNameOf(el) {
  return inReading(() => {
    const f = factsOf(el);
    return folded(contentText(f, newWalk(f)));
  });
}

/** @param {Facts} f @returns {string} */
function nameOfFacts(f) {
  if (f.name !== undefined) return f.name;
  if (f.bare && f.role === 'generic' && TEXT_TAGS.has(f.tag)) return (f.name = '');
  f.name = '';
  const named = computeName(f);
  f.nameFrom = named.from;
  return (f.name = named.text);
}

/** Elements that have no name of their own without an attribute: most of a page.
 * @type {Set<string>} */
const TEXT_TAGS = new Set(['div', 'span', 'b', 'i', 'u', 'small', 'body', 'label', 'center', 'font', 'pre']);

/** @param {Facts} f @returns {Named} */
function computeName(f) {
  const role = roleOfFacts(f);
  const walk = newWalk(f);
  if (f.hasAria) {
    // 2B
    const text = labelledbyText(f, walk);
    if (text !== '') return { text, from: 'labelledby' };
    // 2D
    const label = dom.attr(f.el, 'aria-label');
    if (isText(label)) return { text: folded(/** @type {string} */ (label)), from: 'aria-label' };
  }
  // 2E
  const host = hostName(f, walk);
  if (host) return host;
  // 2F
  if (namedByContent(f, role)) {
    const text = folded(contentText(f, walk));
    if (text !== '') return { text, from: 'content' };
  }
  // 2I
  if (f.hasTitle && !UNNAMED_ROLES.has(role)) {
    const title = folded(dom.attr(f.el, 'title') ?? '');
    if (title !== '') return { text: title, from: 'title' };
  }
  // HTML-AAM 4.1.1: a placeholder is the last resort.
  const hint = f.bare ? '' : placeholderOf(f, role);
  return hint === '' ? { text: '', from: '' } : { text: hint, from: 'placeholder' };
}

/** @param {Facts} f @param {string} role @returns {boolean} */
function namedByContent(f, role) {
  if (f.tag === 'select' || f.tag === 'input' || f.tag === 'textarea') return false;
  if (CONTENT_NAMED.has(role)) return true;
  if (role !== 'row') return false;
  // As Chromium: a row is read as one where it can have the focus.
  if (isFocusable(f)) return true;
  for (let at = ariaUp(f), steps = 0; at && steps < 4; at = ariaUp(at), steps++) {
    const up = roleOfFacts(at);
    if (up === 'grid' || up === 'treegrid') return true;
    if (up === 'table') return false;
  }
  return false;
}

/** @param {Facts} f @param {string} role @returns {string} */
function placeholderOf(f, role) {
  if (f.tag === 'input' || f.tag === 'textarea') {
    const text = dom.attr(f.el, 'placeholder');
    if (isText(text)) return folded(/** @type {string} */ (text));
  }
  if (f.hasAria && (role === 'textbox' || role === 'searchbox' || role === 'combobox' || role === 'spinbutton')) {
    return folded(dom.attr(f.el, 'aria-placeholder') ?? '');
  }
  return '';
}

/** 2B: the texts of the elements aria-labelledby refers to; '' without any.
 * @param {Facts} f @param {Walk} [outer] the walk that met the element @returns {string} */
function labelledbyText(f, outer) {
  if (!f.hasAria) return '';
  const refs = dom.refsOf(f.el, 'aria-labelledby');
  return refs.length === 0 ? '' : referencedText(f, refs, outer);
}

/** @param {Facts} f @param {Element[]} refs @param {Walk} [outer] @returns {string} */
function referencedText(f, refs, outer) {
  if (nestedNames >= MAX_NESTED_NAMES) return '';
  nestedNames++;
  try {
    const parts = [];
    for (const el of refs.slice(0, 100)) {
      const ref = factsOf(el);
      const walk = newWalk(f);
      walk.byReference = true;
      // 2A: a hidden element that is referenced counts, with all that is hidden in it.
      walk.hiddenToo = factsHidden(ref) || (ariaInherited(ref) & ARIA_HIDDEN) !== 0;
      const text = folded(referenceText(ref, walk));
      if (text !== '') parts.push(text);
      if (outer && outer.root !== f) (outer.visited ??= new Set()).add(ref);
    }
    return parts.join(' ');
  } finally {
    nestedNames--;
  }
}

/** The text alternative of a referenced element.
 * @param {Facts} f @param {Walk} walk @returns {string} */
function referenceText(f, walk) {
  const labelled = LABELABLE.has(f.tag) && !isText(embeddedValue(f, walk)) && !(f.hasAria && isText(dom.attr(f.el, 'aria-label'))) ? labelText(f, walk) : '';
  if (labelled !== '') return labelled;
  const visibleWalk = walk.hiddenToo ? walk : { ...walk, hiddenToo: false };
  const whole = wholeText(f, visibleWalk);
  const text = whole ?? contentText(f, visibleWalk);
  if (isText(text) || !f.hasTitle) return text;
  return dom.attr(f.el, 'title') ?? '';
}

/** The accessible description (accname 1.2 4.3.3, HTML-AAM 4.1), '' if none.
 * @param {Element} el @returns {string} */
function descriptionOf(el) {
  return inReading(() => descriptionOfFacts(factsOf(el)));
}

/** @param {Facts} f @returns {string} */
function descriptionOfFacts(f) {
  if (f.bare && f.tag !== 'table' && !f.tag.startsWith('svg:')) return '';
  if (f.hasAria) {
    const refs = dom.refsOf(f.el, 'aria-describedby');
    if (refs.length > 0) {
      const text = referencedText(f, refs);
      if (text !== '') return text;
    }
    const own = dom.attr(f.el, 'aria-description');
    if (isText(own)) return folded(/** @type {string} */ (own));
  }
  const name = nameOfFacts(f);
  if (f.tag === 'table' && f.nameFrom !== 'host') {
    const caption = childText(f, 'caption', newWalk(f));
    if (caption !== null && isText(caption)) return folded(caption);
  }
  if (f.tag.startsWith('svg:')) {
    for (let el = dom.firstElement(f.el); el; el = dom.nextElement(el)) {
      if (dom.localName(el) === 'desc') return folded(dom.textContent(el));
    }
  }
  if (!f.hasTitle || f.nameFrom === 'title') return '';
  const title = folded(dom.attr(f.el, 'title') ?? '');
  return title === name ? '' : title;
}
