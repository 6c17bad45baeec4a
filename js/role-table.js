// @ts-check
// Rows and cells (HTML-AAM tr, td, th), which follow the role of their table.

/** @param {Facts} f @returns {string} */
function tableRole(f) {
  const table = tableAbove(f);
  const role = table ? roleOfFacts(table) : '';
  const inTable = role === 'table' || role === 'grid' || role === 'treegrid';
  // HTML-AAM: in no table, or one that is something else, they are nothing.
  if (!inTable) return 'generic';
  if (f.tag === 'tr') return 'row';
  if (f.tag === 'th') {
    const scoped = headerScope(f);
    if (scoped) return scoped;
  }
  return role === 'table' ? 'cell' : 'gridcell';
}

/** The table a row or cell belongs to, over its parents' usual steps.
 * @param {Facts} f @returns {Facts | null} */
function tableAbove(f) {
  let at = ariaUp(f);
  for (let steps = 0; at && steps < 8; at = ariaUp(at), steps++) {
    if (at.tag === 'table') return at;
    if (at.hasRole) {
      const role = explicitRole(at);
      if (role === 'table' || role === 'grid' || role === 'treegrid') return at;
    }
  }
  return null;
}

/** HTML 4.9.12: what a header cell heads, from its scope or its place.
 * @param {Facts} f @returns {string} columnheader or rowheader */
function headerScope(f) {
  const scope = (f.bare ? '' : dom.attr(f.el, 'scope') ?? '').toLowerCase();
  if (scope === 'col' || scope === 'colgroup') return 'columnheader';
  if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
  const row = dom.parentElement(f.el);
  if (!row || dom.localName(row) !== 'tr') return 'columnheader';
  const group = dom.parentElement(row);
  if (group && dom.localName(group) === 'thead') return 'columnheader';
  // No scope: it heads its row if a data cell stands beside it, else its column.
  const before = dom.previousElement(f.el);
  const after = dom.nextElement(f.el);
  const isData = (/** @type {Element | null} */ el) => el !== null && dom.localName(el) === 'td';
  return isData(before) || isData(after) ? 'rowheader' : 'columnheader';
}
