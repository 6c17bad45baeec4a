// @ts-check
// The role an element has without a role attribute: HTML-AAM 1.0 3.5,
// SVG-AAM 1.0 6.2. An element without one there is `generic`, or has Chromium's
// word in lower case if it is something to act on (canvas, iframe, video, audio).

/** Elements whose role depends on nothing.
 * @type {Record<string, string>} */
const TAG_ROLES = {
  __proto__: /** @type {any} */ (null),
  address: 'group', article: 'article', audio: 'audio', blockquote: 'blockquote', button: 'button', canvas: 'canvas',
  caption: 'caption', code: 'code', dd: 'definition', del: 'deletion', details: 'group', dfn: 'term', dialog: 'dialog',
  dir: 'list', dt: 'term', em: 'emphasis', fieldset: 'group', figure: 'figure', form: 'form', h1: 'heading', h2: 'heading',
  h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading', hgroup: 'group', hr: 'separator', html: 'document',
  iframe: 'iframe', ins: 'insertion', main: 'main', mark: 'mark', 'math:math': 'math', menu: 'list', meter: 'meter',
  nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status', p: 'paragraph', progress: 'progressbar',
  s: 'deletion', search: 'search', strong: 'strong', sub: 'subscript', sup: 'superscript', svg: 'generic', table: 'table',
  tbody: 'rowgroup', textarea: 'textbox', tfoot: 'rowgroup', thead: 'rowgroup', time: 'time', ul: 'list', video: 'video',
};

/** @type {Record<string, string>} */
const INPUT_ROLES = {
  __proto__: /** @type {any} */ (null),
  button: 'button', checkbox: 'checkbox', file: 'button', image: 'button', number: 'spinbutton', radio: 'radio', range: 'slider',
  reset: 'button', search: 'searchbox', submit: 'button', hidden: 'none',
};

/** SVG shapes and the like, which have a role only if somebody named them (SVG-AAM 1.0 5.1).
 * @type {Record<string, string>} */
const NAMED_SVG_ROLES = {
  __proto__: /** @type {any} */ (null),
  svg: 'img', circle: 'graphics-symbol', ellipse: 'graphics-symbol', line: 'graphics-symbol', path: 'graphics-symbol',
  polygon: 'graphics-symbol', polyline: 'graphics-symbol', rect: 'graphics-symbol', use: 'graphics-object', g: 'group',
};

/** @param {Facts} f @returns {string} */
function nativeRole(f) {
  return (f.native ??= minimumRole(f, hostRole(f)));
}

/** HTML-AAM, "minimum role": what can be dragged, opened or focused at load is a group at least.
 * @param {Facts} f @param {string} role @returns {string} */
function minimumRole(f, role) {
  if (role !== 'generic' || f.bare || !(f.tag === 'div' || f.tag === 'span' || f.tag === 'section')) return role;
  if (dom.hasAttr(f.el, 'popover') || dom.hasAttr(f.el, 'autofocus')) return 'group';
  const draggable = dom.attr(f.el, 'draggable');
  return draggable !== null && draggable.toLowerCase() !== 'false' ? 'group' : role;
}

/** @param {Facts} f @returns {string} */
function hostRole(f) {
  const fixed = TAG_ROLES[f.tag];
  if (fixed !== undefined) return fixed;
  switch (f.tag) {
    case 'a': case 'area':
      return !f.bare && dom.hasAttr(f.el, 'href') ? 'link' : 'generic';
    case 'img':
      return imageRole(f);
    case 'input':
      return inputRole(f);
    case 'select':
      return isListbox(f) ? 'listbox' : 'combobox';
    case 'li':
      return hasListParent(f) ? 'listitem' : 'generic';
    case 'header':
      return sectioningAbove(f) ? 'sectionheader' : 'banner';
    case 'footer':
      return sectioningAbove(f) ? 'sectionfooter' : 'contentinfo';
    case 'section':
      return !f.bare && hasAuthorName(f) ? 'region' : 'generic';
    case 'aside':
      // HTML-AAM: within sectioning content only if it is named; main does not count.
      return sectioningAbove(f, true) && !hasAuthorName(f) ? 'generic' : 'complementary';
    case 'summary':
      // HTML-AAM gives no role; Chromium's DisclosureTriangle is a button that expands.
      return isSummary(f, upOf(f)) ? 'button' : 'generic';
    case 'tr': case 'td': case 'th':
      return tableRole(f);
    default:
      return f.tag.startsWith('svg:') ? svgRole(f) : 'generic';
  }
}

/** @param {Facts} f @returns {string} */
function imageRole(f) {
  // HTML-AAM img: empty alt is presentational, unless it is named or can take the focus.
  if (f.bare || dom.attr(f.el, 'alt') !== '') return 'img';
  if (hasGlobalAria(f) || f.hasTab) return 'img';
  return f.hasTitle && isText(dom.attr(f.el, 'title')) ? 'img' : 'none';
}

/** @param {Facts} f @returns {string} */
function inputRole(f) {
  const type = dom.inputType(f.el);
  switch (type) {
    case 'text': case 'search': case 'tel': case 'url': case 'email': case 'number': case 'date': case 'datetime-local':
    case 'month': case 'week': case 'time':
      // HTML-AAM input with a suggestions source element.
      if (!f.bare && dom.hasAttr(f.el, 'list') && dom.inputList(f.el)) return 'combobox';
  }
  if (type === 'checkbox' && dom.hasAttr(f.el, 'switch')) return 'switch';
  // Dates, times and colours have no ARIA role: they are fields one types a value into.
  return INPUT_ROLES[type] ?? 'textbox';
}

/** HTML-AAM select: multiple, or more than one row shown.
 * @param {Facts} f @returns {boolean} */
function isListbox(f) {
  if (f.bare) return false;
  if (dom.hasAttr(f.el, 'multiple')) return true;
  return parseInt(dom.attr(f.el, 'size') ?? '', 10) > 1;
}

/** HTML-AAM li: a list item in a list, or in no list that says otherwise.
 * @param {Facts} f @returns {boolean} */
function hasListParent(f) {
  const parent = dom.parentElement(f.el);
  if (!parent) return true;
  const up = factsOf(parent);
  if (!up.hasRole) return true;
  const role = roleOfFacts(up);
  // An author who made the list something else has taken the items out of it.
  return up.tag !== 'ul' && up.tag !== 'ol' && up.tag !== 'menu' ? true : role === 'list' || role === 'group';
}

/** Whether what scopes a header, footer or aside (HTML-AAM) is above an element.
 * @param {Facts} f @param {boolean} [notMain] @returns {boolean} */
function sectioningAbove(f, notMain) {
  let steps = 0;
  for (let at = upOf(f); at && steps < 1024; at = upOf(at), steps++) {
    switch (at.tag) {
      case 'article': case 'aside': case 'nav': case 'section':
        return true;
      case 'main':
        if (!notMain) return true;
    }
    if (!at.hasRole) continue;
    switch (explicitRole(at)) {
      case 'article': case 'complementary': case 'navigation': case 'region':
        return true;
      case 'main':
        if (!notMain) return true;
    }
  }
  return false;
}

/** @param {Facts} f @returns {string} */
function svgRole(f) {
  const local = f.tag.slice(4);
  if (local === 'a') return dom.hasAttr(f.el, 'href') || dom.hasAttr(f.el, 'xlink:href') ? 'link' : 'generic';
  if (local === 'image') return svgTitle(f) === '' && !hasAuthorName(f) && svgTitleElement(f) ? 'none' : 'img';
  const named = NAMED_SVG_ROLES[local];
  if (named === undefined) return 'generic';
  return hasAuthorName(f) || isText(svgTitle(f)) || hasDescription(f) ? named : 'generic';
}

/** SVG-AAM: the title child, in the first of its kind.
 * @param {Facts} f @returns {Element | null} */
function svgTitleElement(f) {
  for (let el = dom.firstElement(f.el); el; el = dom.nextElement(el)) if (dom.localName(el) === 'title') return el;
  return null;
}

/** @param {Facts} f @returns {boolean} */
function hasDescription(f) {
  for (let el = dom.firstElement(f.el); el; el = dom.nextElement(el)) if (dom.localName(el) === 'desc') return true;
  return false;
}

/** @param {Facts} f @returns {string} */
function svgTitle(f) {
  const title = svgTitleElement(f);
  return title ? dom.textContent(title) : '';
}
