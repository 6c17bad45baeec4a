// @ts-check
// A value of the page as JSON text. Runs in the page's own world, called on the value: objects cannot leave their world. It
// leaves nothing behind and relies on as few of the page's built-ins as it can: object spread and for-in are syntax.
//
// -> a mark of three characters (`v`, or `t` where the text stands for something that is no JSON; `l` where something in it
// does; `c` where it was cut), then the JSON text, at most `limit` characters of it.

/**
 * @this {unknown}
 * @param {number} limit
 * @returns {string}
 */
(function (limit) {
  'use strict';
  /** Levels of nesting; below they are told as text. */
  const MAX_DEPTH = 1000;
  /** Characters of a text that stands for something else. */
  const MAX_TEXT = 10000;
  /** @type {Record<string, string>} */
  const escapes = { __proto__: /** @type {any} */ (null), '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };
  const hex = '0123456789abcdef';
  const page = /** @type {any} */ (globalThis);
  const toJson = page.JSON?.stringify;
  const isSound = sound();
  const cut = {};
  /** @type {unknown[]} */
  const around = [];
  let out = '', lossy = false, depth = 0, odd = false;

  function sound() {
    try { return toJson('a"\\\n\u2028b') === '"a\\"\\\\\\n\u2028b"'; } catch { return false; }
  }

  /** @param {string} text */
  function put(text) {
    out += text;
    if (out.length > limit) throw cut;
  }

  /**
   * @param {string} text
   * @returns {string}
   */
  function quote(text) {
    if (isSound) return toJson(text);
    let quoted = '"';
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (c in escapes) quoted += escapes[c];
      else if (c < ' ') {
        let code = 0;
        while (code < 32 && `${c}` !== controls[code]) code++;
        quoted += `\\u00${hex[code >> 4]}${hex[code & 15]}`;
      } else quoted += c;
    }
    return quoted + '"';
  }
  const controls = '\0\x01\x02\x03\x04\x05\x06\x07\b\t\n\x0b\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f';

  /**
   * What JSON cannot hold.
   * @param {unknown} text
   */
  function tell(text) {
    lossy = true;
    if (depth === 0) odd = true;
    let told = `${text}`;
    if (told.length > MAX_TEXT) {
      let short = '';
      for (let i = 0; i < MAX_TEXT; i++) short += told[i];
      told = `${short}…`;
    }
    put(quote(told));
  }

  /** @param {unknown} x */
  function walk(x) {
    switch (typeof x) {
      case 'string': put(x.length > limit ? quote(x.slice(0, limit)) + '  ' : quote(x)); return;
      case 'boolean': put(x ? 'true' : 'false'); return;
      case 'number':
        if (x - x !== 0) tell(x);
        else put(x === 0 && 1 / x < 0 ? '-0' : `${x}`);
        return;
      case 'bigint': tell(`${x}n`); return;
      case 'symbol': tell(attempt(() => x.toString())); return;
      case 'undefined': tell('undefined'); return;
      case 'function': tell(attempt(() => `[Function: ${x.name || 'anonymous'}]`)); return;
    }
    if (x === null) { put('null'); return; }
    for (let i = depth; i-- > 0;) if (around[i] === x) { tell('[circular]'); return; }
    if (depth >= MAX_DEPTH) { tell('[too deep]'); return; }
    around[depth] = x;
    object(/** @type {any} */ (x));
    around[depth] = null;
  }

  /** @param {any} x */
  function object(x) {
    if (isArray(x)) { list(x); return; }
    const proto = attempt(() => page.Object.getPrototypeOf(x), null);
    if (proto !== null && attempt(() => page.Object.getPrototypeOf(proto), undefined) !== null && special(x)) return;
    record(x);
  }

  /** @param {any} x */
  function isArray(x) {
    try {
      const isList = page.Array.isArray;
      if (isList([]) === true && isList({}) === false) return isList(x);
    } catch { /* the page has done away with it */ }
    return attempt(() => page.Object.prototype.toString.call(x) === '[object Array]', false);
  }

  /** @param {any} x */
  function list(x) {
    put('[');
    depth++;
    for (let i = 0; i < x.length; i++) {
      if (i > 0) put(',');
      let item;
      try { item = x[i]; } catch (error) { tell(thrown(error)); continue; }
      walk(item);
    }
    depth--;
    put(']');
  }

  /** @param {any} x */
  function record(x) {
    put('{');
    depth++;
    let first = true;
    const own = ownOf(x);
    for (const key in own) {
      put(`${first ? '' : ','}${quote(key)}:`);
      first = false;
      walk(own[key]);
    }
    depth--;
    put('}');
  }

  /**
   * What an object holds itself, getters asked.
   * @param {any} x
   * @returns {Record<string, unknown>}
   */
  function ownOf(x) {
    try { return { __proto__: null, ...x }; } catch { /* one by one, then */ }
    /** @type {Record<string, unknown>} */
    const own = { __proto__: /** @type {any} */ (null) };
    for (const key of attempt(() => page.Object.keys(x), [])) {
      try { own[key] = x[key]; } catch (error) { own[key] = thrown(error); }
    }
    return own;
  }

  /** @param {any} x */
  function isEmpty(x) {
    for (const _ in ownOf(x)) return false;
    return true;
  }

  /**
   * Values of built-in and platform types. False: like any other object.
   * @param {any} x
   * @returns {boolean}
   */
  function special(x) {
    const tag = attempt(() => page.Object.prototype.toString.call(x), '');
    switch (tag) {
      case '[object Date]': tell(attempt(() => x.toISOString(), 'Invalid Date')); return true;
      case '[object RegExp]': tell(attempt(() => x.toString())); return true;
      case '[object Error]': case '[object DOMException]': tell(attempt(() => `${x.name}: ${x.message}`)); return true;
      case '[object String]': case '[object Number]': case '[object Boolean]': case '[object BigInt]':
        walk(attempt(() => x.valueOf())); return true;
      case '[object Map]': tell(attempt(() => inner(`Map(${x.size})`, x, true))); return true;
      case '[object Set]': tell(attempt(() => inner(`Set(${x.size})`, x, false))); return true;
      case '[object ArrayBuffer]': tell(`ArrayBuffer(${x.byteLength})`); return true;
      case '[object Window]': case '[object Promise]': case '[object WeakMap]': case '[object WeakSet]': case '[object WeakRef]':
      case '[object Generator]':
        tell(tag); return true;
    }
    if (attempt(() => page.ArrayBuffer.isView(x) && typeof x.length === 'number', false)) { lossy = true; list(x); return true; }
    const node = attempt(() => typeof x.nodeType === 'number' && x instanceof page.Node, false);
    if (node) { tell(attempt(() => tagged(x))); return true; }
    const listed = /^\[object (NodeList|RadioNodeList|HTML\w*Collection|FileList|DOMTokenList|NamedNodeMap|DOMRectList|StyleSheetList|Arguments)\]$/;
    if (attempt(() => listed.test(tag) && typeof x.length === 'number', false)) { lossy = true; list(x); return true; }
    if (!isEmpty(x)) return false;
    // Rectangles, URLs, performance entries: they say themselves how they look as JSON.
    if (attempt(() => typeof x.toJSON === 'function', false)) {
      depth++;
      walk(attempt(() => x.toJSON()));
      depth--;
      return true;
    }
    if (tag === '[object Object]' || tag === '') return false;
    tell(tag);
    return true;
  }

  /**
   * The content of a map or a set, in brackets.
   * @param {string} name
   * @param {Iterable<any>} x
   * @param {boolean} pairs
   */
  function inner(name, x, pairs) {
    const before = out, wasOdd = odd;
    let text = `${name} {`, first = true;
    depth++;
    try {
      for (const entry of x) {
        text += first ? '' : ', ';
        first = false;
        if (text.length > MAX_TEXT) break;
        out = '';
        if (pairs) { walk(entry[0]); out += ' => '; walk(entry[1]); } else walk(entry);
        text += out;
      }
    } finally {
      depth--;
      out = before;
      odd = wasOdd;
    }
    return `${text}}`;
  }

  /** @param {any} node */
  function tagged(node) {
    if (node.nodeType === 3) return `#text ${quote(node.data)}`;
    if (node.nodeType !== 1) return `${node.nodeName}`;
    const id = node.getAttribute('id'), cls = node.getAttribute('class');
    return `<${node.localName}${id ? ` id=${quote(id)}` : ''}${cls ? ` class=${quote(cls)}` : ''}>`;
  }

  /** @param {any} error */
  function thrown(error) {
    return `[throws ${attempt(() => `${error}`)}]`;
  }

  /**
   * @param {() => any} get
   * @param {any} [instead]
   */
  function attempt(get, instead = '[unreadable]') {
    try {
      return get();
    } catch (error) {
      if (error === cut) throw error;
      return instead;
    }
  }

  let whole = true;
  try {
    walk(this);
  } catch (error) {
    if (error !== cut) throw error;
    whole = false;
  }
  return `${odd ? 't' : 'v'}${lossy ? 'l' : '-'}${whole ? '-' : 'c'}${out}`;
})
