// @ts-check
// What can take the focus (HTML 6.6.2), as far as markup decides it.

/** Form controls that can be disabled. @type {Set<string>} */
const DISABLEABLE = new Set(['button', 'input', 'select', 'textarea', 'fieldset', 'optgroup', 'option']);

/** Whether an element can take the focus if it is rendered.
 * @param {Facts} f @returns {boolean} */
function isFocusable(f) {
  switch (f.tag) {
    case 'button': case 'select': case 'textarea':
      return !isNativeDisabled(f);
    case 'input':
      return !isNativeDisabled(f) && dom.inputType(f.el) !== 'hidden';
    case 'a': case 'area':
      if (!f.bare && dom.hasAttr(f.el, 'href')) return true;
      break;
    case 'svg:a':
      if (!f.bare && (dom.hasAttr(f.el, 'href') || dom.hasAttr(f.el, 'xlink:href'))) return true;
      break;
    case 'iframe':
      return true;
    case 'summary':
      if (isSummary(f, upOf(f))) return true;
      break;
    case 'audio': case 'video':
      if (!f.bare && dom.hasAttr(f.el, 'controls')) return true;
      break;
  }
  if (f.hasTab && /^[\t\n\f\r ]*[+-]?\d/.test(dom.attr(f.el, 'tabindex') ?? '')) return true;
  return f.hasEditable && isEditingHost(f);
}

/** Whether an element is where editing starts (HTML 6.8.1).
 * @param {Facts} f @returns {boolean} */
function isEditingHost(f) {
  if (!f.hasEditable) return false;
  const value = (dom.attr(f.el, 'contenteditable') ?? '').toLowerCase();
  return value === '' || value === 'true' || value === 'plaintext-only';
}

/** Whether a form control is disabled by itself or a fieldset (HTML 4.10.18.5).
 * @param {Facts} f @returns {boolean} */
function isNativeDisabled(f) {
  return (DISABLEABLE.has(f.tag) || f.tag.includes('-')) && dom.matches(f.el, ':disabled');
}
