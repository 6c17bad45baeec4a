// @ts-check
// The DOM as its prototypes define it. A form answers `form.tagName` with its
// control of that name (HTML 4.10.3, legacy override built-ins), so nothing in
// the page is ever asked by property: every getter and method is taken from
// its prototype once, when the document starts.

/** Binds a prototype's getter so that it takes its object as first argument.
 * @param {object} proto @param {string} name @returns {any} */
function getter(proto, name) {
  const get = Object.getOwnPropertyDescriptor(proto, name)?.get;
  return get ? Function.prototype.call.bind(get) : () => undefined;
}

/** Binds a prototype's method so that it takes its object as first argument.
 * @param {any} proto @param {string} name @returns {any} */
function method(proto, name) {
  const f = proto[name];
  return typeof f === 'function' ? Function.prototype.call.bind(f) : () => undefined;
}

/** The first of the prototypes' getters of one name that fits the object.
 * @param {object[]} protos @param {string} name
 * @returns {(node: Node) => any} undefined for an object without such a property */
function anyGetter(protos, name) {
  /** @type {[any, any][]} */
  const pairs = protos.map((proto) => [proto, getter(proto, name)]);
  return (node) => {
    for (const [proto, get] of pairs) if (Object.prototype.isPrototypeOf.call(proto, node)) return get(node);
    return undefined;
  };
}

/** Closed shadow roots that were handed to us, by host.
 * @type {WeakMap<Element, ShadowRoot>} */
const closedRoots = new WeakMap();

/** The same for querying: document order is not needed. Pruned when read.
 * @type {Set<WeakRef<Element>>} */
const closedHosts = new Set();

/** Makes a closed shadow root part of the flat tree seen here.
 * @param {Element} host @param {ShadowRoot} root */
function adoptClosedRoot(host, root) {
  if (!closedRoots.has(host)) closedHosts.add(new WeakRef(host));
  closedRoots.set(host, root);
}

const dom = Object.freeze({
  /** Lower-case for HTML. @type {(el: Element) => string} */
  localName: getter(Element.prototype, 'localName'),
  /** @type {(el: Element) => string} */
  tagName: getter(Element.prototype, 'localName'),
  /** @type {(el: Element) => string | null} */
  namespace: getter(Element.prototype, 'namespaceURI'),
  /** @type {(node: Node) => number} */
  nodeType: getter(Node.prototype, 'nodeType'),
  /** @type {(node: Node) => Node | null} */
  parentOf: getter(Node.prototype, 'parentNode'),
  /** @type {(node: Node) => Element | null} */
  parentElement: getter(Node.prototype, 'parentElement'),
  /** @type {(node: Node) => Node | null} */
  firstChild: getter(Node.prototype, 'firstChild'),
  /** @type {(node: Node) => Node | null} */
  nextSibling: getter(Node.prototype, 'nextSibling'),
  /** @type {(el: Element) => Element | null} */
  firstElement: getter(Element.prototype, 'firstElementChild'),
  /** @type {(el: Element) => Element | null} */
  nextElement: getter(Element.prototype, 'nextElementSibling'),
  /** @type {(el: Element) => Element | null} */
  previousElement: getter(Element.prototype, 'previousElementSibling'),
  /** @type {(node: Node) => boolean} */
  isConnected: getter(Node.prototype, 'isConnected'),
  /** @type {(node: Node) => Document | null} */
  documentOf: getter(Node.prototype, 'ownerDocument'),
  /** @type {(node: Node, options?: GetRootNodeOptions) => Node} */
  rootOf: method(Node.prototype, 'getRootNode'),
  /** Inclusive. @type {(node: Node, other: Node | null) => boolean} */
  contains: method(Node.prototype, 'contains'),
  /** @type {(node: Node, other: Node) => number} */
  compare: method(Node.prototype, 'compareDocumentPosition'),
  /** Data of a text node. @type {(node: Node) => string} */
  textOf: getter(CharacterData.prototype, 'data'),
  /** Text of a subtree, generated and hidden or not. @type {(node: Node) => string} */
  textContent: getter(Node.prototype, 'textContent'),
  /** @type {(el: Element, name: string) => string | null} */
  attr: method(Element.prototype, 'getAttribute'),
  /** @type {(el: Element, name: string) => boolean} */
  hasAttr: method(Element.prototype, 'hasAttribute'),
  /** @type {(el: Element) => string[]} */
  attrNames: method(Element.prototype, 'getAttributeNames'),
  /** @type {(el: Element) => boolean} */
  hasAttrs: method(Element.prototype, 'hasAttributes'),
  /** @type {(el: Element, selector: string) => boolean} */
  matches: method(Element.prototype, 'matches'),
  /** @type {(el: Element) => ShadowRoot | null} */
  openRoot: getter(Element.prototype, 'shadowRoot'),
  /** @type {(node: Node) => HTMLSlotElement | null} */
  slotOf: (() => {
    const ofElement = getter(Element.prototype, 'assignedSlot');
    const ofText = getter(Text.prototype, 'assignedSlot');
    /** @param {Node} node */
    return (node) => (node instanceof Element ? ofElement(node) : node instanceof Text ? ofText(node) : null);
  })(),
  /** @type {(slot: HTMLSlotElement, options?: AssignedNodesOptions) => Node[]} */
  assignedNodes: method(HTMLSlotElement.prototype, 'assignedNodes'),
  /** @type {(root: ShadowRoot) => Element} */
  hostOf: getter(ShadowRoot.prototype, 'host'),
  /** @type {(el: Element, options?: CheckVisibilityOptions) => boolean} */
  checkVisibility: method(Element.prototype, 'checkVisibility'),
  /** @type {(el: Element) => DOMRectList} */
  rectsOf: method(Element.prototype, 'getClientRects'),
  /** @type {(el: Element) => DOMRect} */
  rectOf: method(Element.prototype, 'getBoundingClientRect'),
  /** @type {(el: Element, pseudo?: string) => CSSStyleDeclaration} */
  styleOf: (el, pseudo) => getComputedStyle(el, pseudo),
  /** @type {(el: Element) => number} */
  tabIndex: anyGetter([HTMLElement.prototype, SVGElement.prototype, MathMLElement.prototype], 'tabIndex'),
  /** `true`, `false`, inherited or not. @type {(el: Element) => boolean} */
  isEditable: getter(HTMLElement.prototype, 'isContentEditable'),
  /** @type {(label: Element) => Element | null} */
  labelControl: getter(HTMLLabelElement.prototype, 'control'),
  /** What a form control or meter holds. @type {(el: Node) => any} */
  value: anyGetter([HTMLInputElement.prototype, HTMLTextAreaElement.prototype, HTMLSelectElement.prototype,
    HTMLMeterElement.prototype, HTMLProgressElement.prototype, HTMLButtonElement.prototype, HTMLOptionElement.prototype,
    HTMLOutputElement.prototype], 'value'),
  /** The type in effect: an unknown one is `text`. @type {(el: Element) => string} */
  inputType: getter(HTMLInputElement.prototype, 'type'),
  /** The datalist in effect. @type {(el: Element) => Element | null} */
  inputList: getter(HTMLInputElement.prototype, 'list'),
  /** @type {(el: Element) => boolean} */
  checked: getter(HTMLInputElement.prototype, 'checked'),
  /** @type {(el: Element) => boolean} */
  indeterminate: getter(HTMLInputElement.prototype, 'indeterminate'),
  /** @type {(el: Element) => FileList | null} */
  files: getter(HTMLInputElement.prototype, 'files'),
  /** @type {(el: Element) => HTMLCollectionOf<HTMLOptionElement>} */
  selectedOptions: getter(HTMLSelectElement.prototype, 'selectedOptions'),
  /** @type {(el: Element) => boolean} */
  optionSelected: getter(HTMLOptionElement.prototype, 'selected'),
  /** Its `label` attribute, else its text. @type {(el: Element) => string} */
  optionLabel: getter(HTMLOptionElement.prototype, 'label'),
  /** @type {(el: Node) => number} */
  min: anyGetter([HTMLMeterElement.prototype], 'min'),
  /** @type {(el: Node) => number} */
  max: anyGetter([HTMLMeterElement.prototype, HTMLProgressElement.prototype], 'max'),
  /** Resolved. @type {(el: Node) => any} */
  href: anyGetter([HTMLAnchorElement.prototype, HTMLAreaElement.prototype, SVGAElement.prototype], 'href'),
  /** The document's base for relative URLs. @type {(node: Node) => string} */
  baseUri: getter(Node.prototype, 'baseURI'),
  /** @type {(el: Element) => boolean} */
  detailsOpen: getter(HTMLDetailsElement.prototype, 'open'),
  /** @type {(el: Element) => HTMLCollectionOf<HTMLTableCellElement>} */
  rowCells: getter(HTMLTableRowElement.prototype, 'cells'),
  /** @type {(el: Element) => Element | null} */
  popoverTarget: anyGetter([HTMLButtonElement.prototype, HTMLInputElement.prototype], 'popoverTargetElement'),
  /** @type {(el: Element) => Element | null} */
  commandFor: getter(HTMLButtonElement.prototype, 'commandForElement'),
  /** @type {(doc: Document) => Element | null} */
  rootElement: getter(Document.prototype, 'documentElement'),
  /** @type {(doc: Document) => string} */
  title: getter(Document.prototype, 'title'),
  /** Of a document or shadow root. @type {(root: Node) => Element | null} */
  activeElement: anyGetter([Document.prototype, ShadowRoot.prototype], 'activeElement'),
  /** The root's elements that match, in tree order.
   * @type {(root: Node, selector: string) => NodeListOf<Element>} */
  queryAll: (root, selector) => (root instanceof Document ? documentQuery : root instanceof Element ? elementQuery : fragmentQuery)(root, selector),
  /** In the element's own tree. @type {(el: Element, id: string) => Element | null} */
  byId: (el, id) => {
    const root = dom.rootOf(el);
    if (root instanceof Document) return documentById(root, id);
    return root instanceof DocumentFragment ? fragmentById(root, id) : null;
  },
  /** The elements an IDREF attribute names (HTML 2.6.4): those set by script,
   * else those with the ids; [] if there is none.
   * @type {(el: Element, attribute: 'aria-labelledby' | 'aria-describedby' | 'aria-owns') => Element[]} */
  refsOf: (el, attribute) => {
    if (!dom.hasAttr(el, attribute)) return [];
    const found = referenceGetters[attribute](el);
    if (found) return found;
    const ids = (dom.attr(el, attribute) ?? '').split(/[\t\n\f\r ]+/).filter(Boolean);
    return /** @type {Element[]} */ (ids.map((id) => dom.byId(el, id)).filter(Boolean));
  },
});

/** @type {Record<string, (el: Element) => Element[] | null | undefined>} */
const referenceGetters = {
  'aria-labelledby': getter(Element.prototype, 'ariaLabelledByElements'),
  'aria-describedby': getter(Element.prototype, 'ariaDescribedByElements'),
  'aria-owns': getter(Element.prototype, 'ariaOwnsElements'),
};
const documentQuery = method(Document.prototype, 'querySelectorAll');
const fragmentQuery = method(DocumentFragment.prototype, 'querySelectorAll');
const elementQuery = method(Element.prototype, 'querySelectorAll');
const documentById = method(Document.prototype, 'getElementById');
const fragmentById = method(DocumentFragment.prototype, 'getElementById');
const HTML_NS = 'http://www.w3.org/1999/xhtml';
const SVG_NS = 'http://www.w3.org/2000/svg';
