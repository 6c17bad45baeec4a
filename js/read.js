// @ts-check
// `read`: a bounded view of the page as records, one a line. See walk.js for what is in it.
//
// A record of format `nodes` is HEAD, tab, depth, tab, TAIL: JSON with the depth left to the daemon, which adds the depth
// of the frame. A record of format `outline` is depth, tab, line. JSON strings hold neither tab nor line end.

/**
 * @typedef {Lease & {format?: 'nodes' | 'outline', root?: {ref?: number, selector?: string} | null, interactive?: boolean, viewport_only?: boolean,
 *   full?: boolean, max?: number, max_chars?: number, attrs?: string[] | null, since?: string | null, snapshot?: string | null, causal?: boolean,
 *   window_ms?: number, budget_ms?: number}} ReadArgs
 */

/** One line of a view. `key` is what `since` compares: all but what changes by itself.
 * @typedef {{entry: Entry, ref: string, depth: number, head: string, tail: string, key: string, size: number}} ViewRecord */

/** Values longer than this are cut; `type` and `evaluate` give them whole. */
const VALUE_CUT = 5000;
/** Elements looked at for what lies over them. */
const MAX_HITS = 1000;
/** Options listed on a select. */
const MAX_OPTIONS = 500;

/**
 * @param {ReadArgs} args
 * @returns {string | {error: string}}
 */
function read(args) {
  const started = performance.now();
  const root = rootOfArgs(args);
  if (!(root instanceof Element)) return root;
  const max = args.max ?? 2000;
  const outline = args.format === 'outline';
  const maxChars = args.max_chars ?? (outline ? 40000 : 200000);
  const budget = args.budget_ms ?? Infinity;
  // Names and records take their time after the walk.
  const view = walk(root, {
    full: args.full, viewportOnly: args.viewport_only, capRefs: args.interactive ? Infinity : max, capChars: args.interactive ? Infinity : maxChars,
    deadline: started + budget * 0.7,
  });
  if (!view.full) foldTexts(view);
  const out = records(view, args, { max, maxChars, outline, deadline: started + budget });
  return withHeader(out, view, args);
}

/**
 * Where a frame's own records belong: behind the first `at` of these, from `depth` on; `cut` where the caps were met before.
 * @typedef {{at: number, depth: number, ref: string, frame: number | null, cut?: true, sent?: true}} FrameAt
 */

/** @typedef {{records: ViewRecord[], frames: FrameAt[], count: number, total: number, truncated: false | 'refs' | 'chars' | 'budget', size: number}} Records */

/**
 * Makes records of a view's entries, within the caps; counts all.
 * @param {View} view @param {ReadArgs} args
 * @param {{max: number, maxChars: number, outline: boolean, deadline: number, only?: Set<Entry>}} caps `only`: entries to take, where not all
 * @returns {Records}
 */
function records(view, args, caps) {
  /** @type {Records} */
  const out = { records: [], frames: [], count: 0, total: 0, truncated: false, size: 0 };
  let looked = 0, hits = MAX_HITS;
  for (const entry of view.entries) {
    const { parent } = entry;
    entry.depth = parent ? parent.depth + (parent.dead || (args.interactive && !parent.acting) ? 0 : 1) : 0;
    if (entry.dead) continue;
    const isElement = entry.text === null;
    const frame = frameOfEntry(entry);
    // What is in a frame is placed by the daemon, whether the frame itself is asked for or not.
    const at = frame === undefined ? null : /** @type {FrameAt} */ ({ at: 0, depth: entry.depth + 1, ref: '', frame });
    if (at) {
      out.frames.push(at);
      at.at = out.records.length;
      if (out.truncated) at.cut = true;
    }
    if ((args.interactive && !entry.acting && !at) || (caps.only && !caps.only.has(entry))) continue;
    if (isElement) out.total++;
    if (out.truncated) continue;
    if (isElement && out.count >= caps.max) {
      out.truncated = 'refs';
      if (at) at.cut = true;
      continue;
    }
    if ((++looked & 63) === 0 && performance.now() > caps.deadline) {
      out.truncated = 'budget';
      if (at) at.cut = true;
      continue;
    }
    if (entry.acting && isElement && hits > 0 && entry.f.tag !== 'option') {
      entry.cover = coveredBy(entry.f.el, args);
      hits--;
    }
    const record = caps.outline ? outlineRecord(entry, args) : nodeRecord(entry, args);
    if (!record) {
      out.truncated = 'refs';
      if (at) at.cut = true;
      continue;
    }
    if (out.size + record.size > caps.maxChars) {
      out.truncated = 'chars';
      if (at) at.cut = true;
      continue;
    }
    out.size += record.size;
    out.records.push(record);
    if (at) {
      at.at = out.records.length;
      at.ref = record.ref;
    }
    if (isElement) out.count++;
  }
  if (view.late) out.truncated ||= 'budget';
  return out;
}

/**
 * A thing without a role that can be clicked is called by its text, where text is all it has.
 * @param {View} view
 */
function foldTexts(view) {
  const { entries } = view;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i];
    if (entry.dead || !entry.clickable || entry.text !== null || !SILENT_ROLES.has(entry.role) || isEditingHost(entry.f) || nameOfFacts(entry.f) !== '') continue;
    let end = i + 1, length = 0;
    while (end < entries.length && entries[end].text !== null && entries[end].parent === entry) length += /** @type {string} */ (entries[end++].text).length + 1;
    // Something else stands in it: its text stays apart.
    if (end === i + 1 || length > NAME_CUT || isWithin(entries[end], entry)) continue;
    entry.f.name = entries.slice(i + 1, end).map((each) => each.text).join(' ');
    entry.unseen = entries.slice(i + 1, end).every((each) => each.unseen);
    for (let k = i + 1; k < end; k++) entries[k].dead = true;
  }
}

/** @param {Entry | undefined} entry @param {Entry} outer */
function isWithin(entry, outer) {
  for (let at = entry ? entry.parent : null; at; at = at.parent) if (at === outer) return true;
  return false;
}

/**
 * @param {Entry} entry @param {ReadArgs} args
 * @returns {ViewRecord | null} null if the lease has run out
 */
function nodeRecord(entry, args) {
  if (entry.text !== null) {
    const head = `{"role":"text","name":${JSON.stringify(safeLine(entry.text))}`;
    const tail = entry.unseen ? ',"unseen":true}' : '}';
    return { entry, ref: '', depth: entry.depth, head, tail, key: textKey(entry), size: nodeSize(entry, head, tail) };
  }
  const { f, role } = entry;
  const name = safeName(nameOfFacts(f));
  const known = refRecord(f.el, args);
  if (!known) return null;
  known.role = role;
  known.name = name;
  const ref = args.prefix + known.n;
  const head = `{"ref":"${ref}","role":"${role}","name":${JSON.stringify(name)}`;
  const fields = fieldsOf(entry, args);
  const body = JSON.stringify(fields);
  const causal = causalOf(f.el, args);
  let tail = body === '{}' ? '' : ',' + body.slice(1, -1);
  if (causal) tail += ',' + JSON.stringify(causal).slice(1, -1);
  const rest = restOf(entry, args);
  const key = `${role} ${name} ${body} ${rest}`;
  if (rest !== '{}') tail += ',' + rest.slice(1, -1);
  tail += '}';
  return { entry, ref, depth: entry.depth, head, tail, key, size: nodeSize(entry, head, tail) };
}

/** The length of a node as it is sent: with a comma, and its depth put in. @param {Entry} entry @param {string} head @param {string} tail */
function nodeSize(entry, head, tail) {
  return head.length + tail.length + 10 + String(entry.depth).length;
}

/** What `since` compares of a text. @param {Entry} entry */
function textKey(entry) {
  return `text ${entry.text} ${entry.unseen}`;
}

/**
 * A node's fields from `checked` to `unreadable`, in the contract's order.
 * @param {Entry} entry @param {ReadArgs} args
 * @returns {Record<string, any>}
 */
function fieldsOf(entry, args) {
  const { f } = entry;
  /** @type {Record<string, any>} */
  const s = statesOfFacts(f);
  if (s.value !== undefined) s.value = cutTo(String(s.value).toWellFormed(), VALUE_CUT);
  if (s.description !== undefined) s.description = cutTo(safeLine(s.description), URL_CUT);
  if (s.placeholder !== undefined) s.placeholder = safeName(s.placeholder);
  if (s.url !== undefined) s.url = cutTo(s.url.toWellFormed(), URL_CUT);
  if (entry.clickable) s.clickable = true;
  if (entry.unseen) s.unseen = true;
  if (entry.scrolls) s.scrollable = scrollLeftOver(f.el, /** @type {CSSStyleDeclaration} */ (styled(f).style)) ?? undefined;
  if (entry.cover) s.covered = entry.cover;
  const frame = frameOfEntry(entry);
  if (typeof frame === 'number') s.frame = `f${frame}`;
  else if (frame === null) s.unreadable = 'its document is not there yet';
  return s;
}

/**
 * A node's last fields, as JSON: `attrs` and `options`.
 * @param {Entry} entry @param {ReadArgs} args
 */
function restOf(entry, args) {
  const { f } = entry;
  /** @type {Record<string, any>} */
  const rest = {};
  if (args.attrs && args.attrs.length > 0) {
    /** @type {Record<string, string>} */
    const attrs = Object.create(null);
    for (const name of args.attrs) {
      const value = f.bare ? null : dom.attr(f.el, name);
      if (value !== null) attrs[name] = cutTo(value.toWellFormed(), VALUE_CUT);
    }
    if (Object.keys(attrs).length > 0) rest.attrs = attrs;
  }
  if (f.tag === 'select') rest.options = optionsOf(f.el);
  return JSON.stringify(rest);
}

/** The labels of a select's options. @param {Element} el @returns {string[]} */
function optionsOf(el) {
  const labels = [];
  for (const option of dom.queryAll(el, 'option')) {
    if (labels.length >= MAX_OPTIONS) break;
    labels.push(safeName(folded(dom.optionLabel(option))));
  }
  return labels;
}

/** The number of the frame an entry holds, null if it holds one the daemon has not told of, else undefined.
 * @param {Entry} entry @returns {number | null | undefined} */
function frameOfEntry(entry) {
  const { tag } = entry.f;
  return entry.text === null && (tag === 'iframe' || tag === 'frame') ? frameNumbers.get(entry.f.el) ?? null : undefined;
}

/**
 * How an element came into being, where the page's own past tells: `{new: {ms, px}}` or `{replaced: {ms}}`.
 * @param {Element} el @param {ReadArgs} args
 * @returns {Record<string, unknown> | undefined}
 */
function causalOf(el, args) {
  return undefined;
}

/**
 * Pixels that can still be scrolled to the right and down; null if there is nothing to scroll.
 * @param {Element} el @param {CSSStyleDeclaration} style
 */
function scrollLeftOver(el, style) {
  const x = scrollBox.width(el) - scrollBox.clientWidth(el), y = scrollBox.height(el) - scrollBox.clientHeight(el);
  const scrollsX = x > 1 && /auto|scroll/.test(style.overflowX), scrollsY = y > 1 && /auto|scroll/.test(style.overflowY);
  if (!scrollsX && !scrollsY) return null;
  return {
    x: scrollsX ? Math.max(0, Math.round(x - Math.abs(scrollBox.left(el)))) : 0,
    y: scrollsY ? Math.max(0, Math.round(y - Math.abs(scrollBox.top(el)))) : 0,
  };
}

const scrollBox = Object.freeze({
  width: getter(Element.prototype, 'scrollWidth'), height: getter(Element.prototype, 'scrollHeight'), clientWidth: getter(Element.prototype, 'clientWidth'),
  clientHeight: getter(Element.prototype, 'clientHeight'), left: getter(Element.prototype, 'scrollLeft'), top: getter(Element.prototype, 'scrollTop'),
});

/**
 * @param {Records} out @param {View} view @param {ReadArgs} args @param {Record<string, unknown>} [more]
 * @returns {string}
 */
function withHeader(out, view, args, more) {
  const delta = args.snapshot ? sinceSnapshot(out.records, args) : null;
  const lines = delta ? delta.lines : out.records.map(recordLine);
  if (delta && delta.base) for (const frame of out.frames) if (delta.sent.has(frame.ref)) frame.sent = true;
  const header = {
    url: location.href.toWellFormed(), title: safeLine(dom.title(document)).trim(), count: out.count, total: out.total, truncated: out.truncated, next: args.next,
    frames: out.frames, base: delta ? delta.base : null, ...(delta && delta.base ? { removed: delta.removed, size: out.size, last: delta.last } : {}),
    hidden_roots: view.hiddenRoots, ...more,
  };
  lines.unshift(JSON.stringify(header));
  return lines.join('\n');
}

/** @param {ViewRecord} record */
function recordLine(record) {
  return record.tail === '' ? `${record.depth}\t${record.head}` : `${record.head}\t${record.depth}\t${record.tail}`;
}
