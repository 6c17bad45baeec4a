// @ts-check
// The role attribute: which tokens are roles (ARIA 1.3, DPUB-ARIA 1.1,
// Graphics-ARIA 1.0), and which of them may be used in a place.

/** Every concrete role. Abstract ones (ARIA 1.3 5.3.1) are no tokens.
 * @type {Set<string>} */
const ROLES = new Set((
  'alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox comment '
  + 'complementary contentinfo definition deletion dialog document emphasis feed figure form generic grid gridcell group heading '
  + 'img insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter '
  + 'navigation none note option paragraph progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox '
  + 'sectionfooter sectionheader separator slider spinbutton status strong subscript suggestion superscript switch tab table tablist '
  + 'tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem '
  + 'graphics-document graphics-object graphics-symbol '
  + 'doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-biblioentry doc-bibliography doc-biblioref '
  + 'doc-chapter doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication doc-endnote doc-endnotes doc-epigraph '
  + 'doc-epilogue doc-errata doc-example doc-footnote doc-foreword doc-glossary doc-glossref doc-index doc-introduction doc-noteref '
  + 'doc-notice doc-pagebreak doc-pagefooter doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna '
  + 'doc-subtitle doc-tip doc-toc'
).split(' '));

/** Synonyms (ARIA 1.3 5.4), in the word the tree uses.
 * @type {Record<string, string>} */
const ROLE_SYNONYMS = { __proto__: /** @type {any} */ (null), presentation: 'none', image: 'img', directory: 'list' };

/** Global attributes that keep a role from being presentational (ARIA 1.3 6.5,
 * "Global States and Properties"). aria-hidden says nothing of its own.
 * @type {string[]} */
const GLOBAL_ARIA = ['aria-atomic', 'aria-braillelabel', 'aria-brailleroledescription', 'aria-busy', 'aria-controls', 'aria-current',
  'aria-describedby', 'aria-description', 'aria-details', 'aria-disabled', 'aria-dropeffect', 'aria-errormessage', 'aria-flowto',
  'aria-grabbed', 'aria-haspopup', 'aria-invalid', 'aria-keyshortcuts', 'aria-label', 'aria-labelledby', 'aria-live', 'aria-owns',
  'aria-relevant', 'aria-roledescription'];

/** Roles that need one of these as accessibility parent (ARIA 1.3 5.2.7), and
 * are skipped without. Chromium, as the tests, keeps the table roles in any
 * place.
 * @type {Record<string, string[]>} */
const ROLE_PARENTS = {
  __proto__: /** @type {any} */ (null),
  listitem: ['list'],
  option: ['listbox', 'group', 'combobox', 'menu', 'radiogroup'],
  treeitem: ['tree', 'group', 'treeitem'],
};

/** The first token of the role attribute that counts, '' if none does.
 * @param {Facts} f @returns {string} */
function explicitRole(f) {
  const value = dom.attr(f.el, 'role');
  if (!value) return '';
  // ARIA 1.3 8.1: tokens are compared ASCII case-insensitively; unknown ones are skipped.
  for (const token of value.toLowerCase().split(/[\t\n\f\r ]+/)) {
    const role = ROLE_SYNONYMS[token] ?? token;
    if (!ROLES.has(role)) continue;
    // ARIA 1.3 5.4 form, region: authors MUST name them, and without a name they are no landmark.
    if ((role === 'form' || role === 'region') && !hasAuthorName(f)) continue;
    const parents = ROLE_PARENTS[role];
    if (parents && !hasRoleParent(f, parents)) continue;
    // ARIA 1.3 9.1.2 (presentational roles conflict resolution): it shows itself as what it is.
    if (role === 'none' && resistsNone(f)) return '';
    return role;
  }
  return '';
}

/** Whether the nearest ancestor that is not generic has one of the roles.
 * @param {Facts} f @param {string[]} parents @returns {boolean} */
function hasRoleParent(f, parents) {
  let steps = 0;
  for (let at = ariaUp(f); at && steps < 64; at = ariaUp(at), steps++) {
    const role = roleOfFacts(at);
    if (parents.includes(role)) return true;
    if (role !== 'generic' && role !== 'none') return false;
  }
  return false;
}

/** Whether an element that is to be presentational must not be.
 * @param {Facts} f @returns {boolean} */
function resistsNone(f) {
  return isFocusable(f) || hasGlobalAria(f);
}

/** @param {Facts} f @returns {boolean} */
function hasGlobalAria(f) {
  return f.hasAria && GLOBAL_ARIA.some((name) => dom.hasAttr(f.el, name));
}

/** Whether the author gave a name: aria-labelledby, aria-label or title.
 * @param {Facts} f @returns {boolean} */
function hasAuthorName(f) {
  if (f.hasAria) {
    if (isText(dom.attr(f.el, 'aria-label'))) return true;
    if (dom.refsOf(f.el, 'aria-labelledby').length > 0 && labelledbyText(f) !== '') return true;
  }
  return f.hasTitle && isText(dom.attr(f.el, 'title'));
}

/** @param {string | null} value @returns {boolean} more than ASCII white space */
function isText(value) {
  return value !== null && /[^\t\n\f\r ]/.test(value);
}
