// @ts-check
// Form controls and geometry through prototype getters, where `dom` has none: a form's field named `value`, `focus` or
// `disabled` shadows the property of that name, in isolated worlds too.

/**
 * @template T
 * @param {object} proto
 * @param {string} name
 * @returns {(self: T, value: unknown) => void}
 */
function setterOf(proto, name) {
  const set = Object.getOwnPropertyDescriptor(proto, name)?.set ?? (() => undefined);
  return (self, value) => Reflect.apply(set, self, [value]);
}

/** What acting needs of the DOM beyond `dom`, uncurried at the start of the document. */
const control = Object.freeze({
  setInputValue: /** @type {(el: Element, value: unknown) => void} */ (setterOf(HTMLInputElement.prototype, 'value')),
  isInputReadonly: /** @type {(el: Element) => boolean} */ (getter(HTMLInputElement.prototype, 'readOnly')),
  selectInput: /** @type {(el: Element) => void} */ (method(HTMLInputElement.prototype, 'select')),
  setInputRange: /** @type {(el: Element, start: number, end: number) => void} */ (method(HTMLInputElement.prototype, 'setSelectionRange')),
  isAreaReadonly: /** @type {(el: Element) => boolean} */ (getter(HTMLTextAreaElement.prototype, 'readOnly')),
  selectArea: /** @type {(el: Element) => void} */ (method(HTMLTextAreaElement.prototype, 'select')),
  setAreaRange: /** @type {(el: Element, start: number, end: number) => void} */ (method(HTMLTextAreaElement.prototype, 'setSelectionRange')),
  isMultiple: /** @type {(el: Element) => boolean} */ (getter(HTMLSelectElement.prototype, 'multiple')),
  optionsOf: /** @type {(el: Element) => HTMLOptionsCollection} */ (getter(HTMLSelectElement.prototype, 'options')),
  setSelected: /** @type {(el: Element, value: unknown) => void} */ (setterOf(HTMLOptionElement.prototype, 'selected')),
  optionText: /** @type {(el: Element) => string} */ (getter(HTMLOptionElement.prototype, 'text')),
  innerText: /** @type {(el: Element) => string} */ (getter(HTMLElement.prototype, 'innerText')),
  focusHtml: /** @type {(el: Element, options?: FocusOptions) => void} */ (method(HTMLElement.prototype, 'focus')),
  focusSvg: /** @type {(el: Element, options?: FocusOptions) => void} */ (method(SVGElement.prototype, 'focus')),
  readyState: /** @type {(doc: Document) => string} */ (getter(Document.prototype, 'readyState')),
  selectionOf: /** @type {(doc: Document) => Selection | null} */ (method(Document.prototype, 'getSelection')),
  topIn: /** @type {(root: Document | ShadowRoot, x: number, y: number) => Element | null} */ ((root, x, y) =>
    root === document ? topInDocument(document, x, y) : topInShadow(root, x, y)),
  animationsOf: /** @type {(doc: Document) => Animation[]} */ (method(Document.prototype, 'getAnimations')),
  scrollIntoView: /** @type {(el: Element, options: ScrollIntoViewOptions) => void} */ (method(Element.prototype, 'scrollIntoView')),
  scrollTo: /** @type {(el: Element, options: ScrollToOptions) => void} */ (method(Element.prototype, 'scrollTo')),
  scrollTop: /** @type {(el: Element) => number} */ (getter(Element.prototype, 'scrollTop')),
  scrollLeft: /** @type {(el: Element) => number} */ (getter(Element.prototype, 'scrollLeft')),
  scrollHeight: /** @type {(el: Element) => number} */ (getter(Element.prototype, 'scrollHeight')),
  scrollWidth: /** @type {(el: Element) => number} */ (getter(Element.prototype, 'scrollWidth')),
  clientTop: /** @type {(el: Element) => number} */ (getter(Element.prototype, 'clientTop')),
  clientLeft: /** @type {(el: Element) => number} */ (getter(Element.prototype, 'clientLeft')),
  clientHeight: /** @type {(el: Element) => number} */ (getter(Element.prototype, 'clientHeight')),
  clientWidth: /** @type {(el: Element) => number} */ (getter(Element.prototype, 'clientWidth')),
  lengthOf: /** @type {(el: Element) => number} */ (method(SVGGeometryElement.prototype, 'getTotalLength')),
  pointAt: /** @type {(el: Element, length: number) => DOMPoint} */ (method(SVGGeometryElement.prototype, 'getPointAtLength')),
  matrixOf: /** @type {(el: Element) => DOMMatrix | null} */ (method(SVGGraphicsElement.prototype, 'getScreenCTM')),
});

const topInDocument = method(Document.prototype, 'elementFromPoint');
const topInShadow = method(ShadowRoot.prototype, 'elementFromPoint');

/**
 * @param {Node} node
 * @returns {node is Element}
 */
function isElement(node) {
  return dom.nodeType(node) === Node.ELEMENT_NODE;
}

/**
 * The local name of an HTML element; "" for those of other namespaces, which no form code is about.
 * @param {Element} el
 * @returns {string}
 */
function htmlName(el) {
  return dom.namespace(el) === HTML_NS ? dom.localName(el) : '';
}

/**
 * What stands for the state of a form control where it makes no mutation: its value, and whether it is checked.
 * @param {Element} el
 * @returns {string | undefined} undefined for what is no control
 */
function controlState(el) {
  switch (htmlName(el)) {
    case 'input': {
      const type = dom.inputType(el);
      if (type !== 'checkbox' && type !== 'radio') return dom.value(el);
      return dom.indeterminate(el) ? 'mixed' : String(dom.checked(el));
    }
    case 'textarea': return dom.value(el);
    case 'select': return Array.from(control.optionsOf(el), (o) => (dom.optionSelected(o) ? '1' : '0')).join('');
    default: return undefined;
  }
}

/**
 * @param {Element} el
 * @param {FocusOptions} [options]
 */
function focusOn(el, options) {
  if (dom.namespace(el) === SVG_NS) control.focusSvg(el, options);
  else if (htmlName(el)) control.focusHtml(el, options);
}
