// @ts-check
// Fields: which element a text goes into, what it holds, and values that are not text.

/** Elements looked at within a target for the field that it wraps. */
const MAX_WRAPPED = 300;

/**
 * The field that text for `el` goes into: itself, the control of a label, the host of what is being edited, or the only
 * field inside of a wrapper.
 * @param {Element} el
 * @returns {Element | null}
 */
function fieldOf(el) {
  if (htmlName(el) === 'label') {
    const labelled = dom.labelControl(el);
    if (labelled) return fieldOf(labelled);
  }
  const kind = editableKind(el);
  if (kind === 'rich') return editingHost(el);
  if (kind) return el;
  if (/^(input|select|button|a)$/.test(htmlName(el))) return null;
  return onlyField(el);
}

/**
 * @param {Element} el
 * @returns {Element}
 */
function editingHost(el) {
  let host = el;
  for (let at = elementAbove(el); at && htmlName(at) && dom.isEditable(at); at = elementAbove(at)) host = at;
  return host;
}

/**
 * @param {Element} el
 * @returns {Element | null} null where it holds none, or several
 */
function onlyField(el) {
  let found = null, left = MAX_WRAPPED;
  const stack = [el];
  for (let at = stack.pop(); at && left-- > 0; at = stack.pop()) {
    for (const child of flatChildren(at)) {
      if (!isElement(child)) continue;
      const kind = editableKind(child);
      if (kind && isShown(child)) {
        if (found) return null;
        found = kind === 'rich' ? editingHost(child) : child;
      } else {
        stack.push(child);
      }
    }
  }
  return found;
}

/**
 * What a field holds: its value, or the text of what is edited in place. A password's is not told.
 * @param {Element} el
 * @returns {string}
 */
function contentOf(el) {
  switch (htmlName(el)) {
    case 'input': {
      const value = dom.value(el);
      return dom.inputType(el) === 'password' && value ? '•••' : value;
    }
    case 'textarea': return dom.value(el);
    case 'select': return dom.value(el);
    case '': return '';
    // An empty paragraph of an editor shows as one line break.
    default: return control.innerText(el).replace(/\n$/, '');
  }
}

/** What to call instead, for what is no field. */
const OTHER_TOOLS = Object.freeze(/** @type {Record<string, string>} */ ({ select: 'use select', option: 'use select', checkbox: 'use check', radio: 'use check', file: 'use upload' }));

/**
 * @param {Element} el
 * @param {Lease} lease
 * @returns {Failure}
 */
function notEditable(el, lease) {
  const name = htmlName(el);
  const hint = OTHER_TOOLS[name === 'input' ? dom.inputType(el) : name] ?? 'type into a field, or click it first where it turns into one';
  return failure('not_editable', `${wordsFor(described(el, lease))} takes no text`, hint);
}

/**
 * Sets the value of a field that is not text, as its picker would, with the events that frameworks listen to.
 * @param {Element} field
 * @param {{text: string} & Lease} args
 * @returns {{mode: string, keys_before: string[]} | Failure}
 */
function setNativeValue(field, args) {
  const type = dom.inputType(field);
  const value = acceptedValue(field, type, args.text);
  if (value === undefined) {
    return failure('bad_request', `${wordsFor(described(field, args))} does not take ${inQuotes(args.text)}`, `write ${NATIVE_FORMATS[type]}`, { type, format: NATIVE_FORMATS[type] });
  }
  if (value !== dom.value(field)) {
    control.setInputValue(field, value);
    dispatch(field, new Event('input', { bubbles: true, composed: true }));
    dispatch(field, new Event('change', { bubbles: true }));
  }
  return { mode: 'native', keys_before: [] };
}
const dispatch = /** @type {(target: EventTarget, event: Event) => boolean} */ (method(EventTarget.prototype, 'dispatchEvent'));

/**
 * What a field of this type makes of a text, tried on one that is in no document.
 * @param {Element} field
 * @param {string} type
 * @param {string} text
 * @returns {string | undefined} undefined where it is not taken
 */
function acceptedValue(field, type, text) {
  const trial = document.createElementNS('http://www.w3.org/1999/xhtml', 'input');
  for (const name of ['type', 'min', 'max', 'step']) {
    const value = dom.attr(field, name);
    if (value !== null && value !== undefined) trial.setAttribute(name, value);
  }
  control.setInputValue(trial, text.trim());
  const value = dom.value(trial);
  if (type === 'range') return text.trim() !== '' && Number(value) === Number(text) ? value : undefined;
  if (type === 'color') return value === text.trim().toLowerCase() ? value : undefined;
  return value !== '' || text.trim() === '' ? value : undefined;
}

/**
 * Whether a field is one of several boxes that each hold one character of a code, and the page moves from box to box.
 * @param {Element} field
 * @param {string} text
 * @returns {boolean}
 */
function isCodeBox(field, text) {
  if (htmlName(field) !== 'input' || Array.from(text).length < 2) return false;
  if (dom.attr(field, 'maxlength') === '1') return true;
  const width = dom.rectOf(field).width;
  if (width > 80 || !/^(text|tel|number|password)$/.test(dom.inputType(field))) return false;
  // Boxes without maxlength: at least four alike, narrow, side by side.
  let group = elementAbove(field), alike = 0;
  for (let depth = 0; group && depth < 3; depth++, group = elementAbove(group)) {
    alike = 0;
    for (const other of flatChildren(group)) {
      if (!isElement(other)) continue;
      const box = htmlName(other) === 'input' ? other : onlyField(other);
      if (box && htmlName(box) === 'input' && Math.abs(dom.rectOf(box).width - width) < 2 && Math.abs(dom.rectOf(box).top - dom.rectOf(field).top) < 4) alike++;
    }
    if (alike >= 4) return true;
  }
  return false;
}
