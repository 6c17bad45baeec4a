// @ts-check
// The value of a control, as it stands within another's name (accname 1.2 2C).

/** @param {Facts} f @param {Walk} walk @returns {string | null} null if it is no control with a value */
function embeddedValue(f, walk) {
  if (!f.hasRole) {
    switch (f.tag) {
      case 'input': case 'textarea': case 'select': case 'meter': case 'progress':
        break;
      default:
        return null;
    }
  }
  if (f === walk.root) return null;
  switch (roleOfFacts(f)) {
    case 'textbox': case 'searchbox':
      return textValue(f) ?? contentText(f, walk);
    case 'combobox':
      return comboboxValue(f, walk);
    case 'listbox':
      return selectedText(f, walk);
    case 'slider': case 'spinbutton': case 'scrollbar': case 'progressbar': case 'meter':
      return rangeText(f);
    default:
      return null;
  }
}

/** What a text field holds; null if it is none of HTML's.
 * @param {Facts} f @returns {string | null} */
function textValue(f) {
  if (f.tag === 'textarea') return String(dom.value(f.el));
  if (f.tag !== 'input') return null;
  if (dom.inputType(f.el) === 'password') return dom.value(f.el) === '' ? '' : '•••';
  return String(dom.value(f.el));
}

/** accname 2C.ii: the chosen option's text, else what is typed or shown.
 * @param {Facts} f @param {Walk} walk @returns {string} */
function comboboxValue(f, walk) {
  if (f.tag === 'select') return selectedText(f, walk);
  const typed = textValue(f);
  if (typed !== null) return typed;
  const chosen = selectedText(f, walk);
  if (chosen !== '') return chosen;
  const field = firstWithin(f, (each) => each.tag === 'input' || each.tag === 'textarea');
  return field ? textValue(field) ?? '' : contentText(f, walk);
}

/** Text of the selected options, in order.
 * @param {Facts} f @param {Walk} walk @returns {string} */
function selectedText(f, walk) {
  if (f.tag === 'select') return [...dom.selectedOptions(f.el)].map((option) => folded(dom.optionLabel(option))).join(' ');
  /** @type {string[]} */
  const texts = [];
  firstWithin(f, (each) => {
    if (each.hasRole && ariaToken(each, 'aria-selected') === 'true' && roleOfFacts(each) === 'option') texts.push(folded(contentText(each, walk)));
    return false;
  });
  return texts.join(' ');
}

/** accname 2C.iii: aria-valuetext, else the number.
 * @param {Facts} f @returns {string} */
function rangeText(f) {
  if (f.hasAria) {
    const text = dom.attr(f.el, 'aria-valuetext');
    if (isText(text)) return /** @type {string} */ (text);
  }
  const native = nativeRangeValue(f);
  if (native !== null) return native;
  return f.hasAria ? dom.attr(f.el, 'aria-valuenow') ?? '' : '';
}

/** @param {Facts} f @returns {string | null} */
function nativeRangeValue(f) {
  if (f.tag === 'input') return String(dom.value(f.el));
  if (f.tag === 'meter') return String(dom.value(f.el));
  if (f.tag === 'progress') return dom.hasAttr(f.el, 'value') ? String(dom.value(f.el)) : '';
  return null;
}

/** The first element in the accessibility subtree that fits; looks at 2000 at most.
 * @param {Facts} top @param {(f: Facts) => boolean} fits @returns {Facts | null} */
function firstWithin(top, fits) {
  const stack = ariaChildren(top).reverse();
  for (let looked = 0; looked < 2000; looked++) {
    const node = stack.pop();
    if (!node) return null;
    if (dom.nodeType(node) !== 1) continue;
    const f = factsOf(/** @type {Element} */ (node));
    if (fits(f)) return f;
    const kids = ariaChildren(f);
    for (let i = kids.length - 1; i >= 0; i--) stack.push(kids[i]);
  }
  return null;
}
