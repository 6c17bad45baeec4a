// @ts-check
// The outline: a view's node as one short line. Names and values are JSON strings, so that no page text can start a line
// or pass for anything but text. What is cleaned from names is cleaned from every word of it.

/** Levels by which lines are indented; the daemon has the same number. */
const MAX_INDENT = 40;

/**
 * @param {Entry} entry @param {ReadArgs} args
 * @returns {ViewRecord | null} null if the lease has run out
 */
function outlineRecord(entry, args) {
  if (entry.text !== null) {
    const head = `text ${JSON.stringify(safeLine(entry.text))}${entry.unseen ? ' {unseen}' : ''}`;
    return { entry, ref: '', depth: entry.depth, head, tail: '', key: textKey(entry), size: lineSize(entry, head) };
  }
  const { f, role } = entry;
  const name = safeName(nameOfFacts(f));
  const known = refRecord(f.el, args);
  if (!known) return null;
  known.role = role;
  known.name = name;
  const ref = args.prefix + known.n;
  const s = fieldsOf(entry, args);
  const restText = restOf(entry, args);
  const rest = JSON.parse(restText);
  let head = `[${ref}] ${role}`;
  if (name !== '') head += ` ${JSON.stringify(name)}`;
  if (s.value !== undefined) head += ` = ${quoted(s.value)}`;
  if (s.url !== undefined) head += ` -> ${quoted(shortUrl(s.url))}`;
  const words = stateWords(s, role);
  if (rest.attrs) for (const each of Object.keys(rest.attrs)) words.push(`${quoted(each)}=${quoted(rest.attrs[each])}`);
  // A read without entries for the options names them here.
  if (rest.options && args.interactive) words.push(`options ${rest.options.map(quoted).join(' ')}`);
  const key = `${role} ${name} ${JSON.stringify(s)} ${restText}`;
  const causal = /** @type {any} */ (causalOf(f.el, args));
  if (causal?.new) words.push(`new ${causal.new.ms}ms` + (causal.new.px === undefined ? '' : `, ${causal.new.px}px from click`));
  if (causal?.replaced) words.push(`replaced ${causal.replaced.ms}ms`);
  if (words.length > 0) head += ` {${words.join(', ')}}`;
  return { entry, ref, depth: entry.depth, head, tail: '', key, size: lineSize(entry, head) };
}

/** The length of a line as it is sent: indented, but not without end. @param {Entry} entry @param {string} line */
function lineSize(entry, line) {
  return line.length + 2 * Math.min(entry.depth, MAX_INDENT) + 1;
}

/** @param {unknown} text */
function quoted(text) {
  return JSON.stringify(safeName(String(text)));
}

/** An address without the page's own origin. @param {string} url */
function shortUrl(url) {
  const { origin } = location;
  return origin !== 'null' && url.startsWith(origin + '/') ? url.slice(origin.length) : url;
}

/**
 * States as words. What is left out is what the role makes plain: an option or a tab without `selected` is not.
 * @param {Record<string, any>} s @param {string} role
 * @returns {string[]}
 */
function stateWords(s, role) {
  /** @type {string[]} */
  const w = [];
  if (s.checked !== undefined) w.push(s.checked === true ? 'checked' : s.checked === false ? 'not checked' : 'checked mixed');
  if (s.pressed !== undefined) w.push(s.pressed === true ? 'pressed' : s.pressed === false ? 'not pressed' : 'pressed mixed');
  if (s.haspopup !== undefined) w.push(`opens ${s.haspopup}`);
  if (s.current !== undefined) w.push(s.current === 'true' ? 'current' : `current ${s.current}`);
  if (s.orientation !== undefined) w.push(s.orientation);
  if (s.description !== undefined) w.push(`description ${quoted(s.description)}`);
  if (s.placeholder !== undefined) w.push(`placeholder ${quoted(s.placeholder)}`);
  if (s.level !== undefined) w.push(`level ${s.level}`);
  if (s.valuemin !== undefined || s.valuemax !== undefined) w.push(`range ${s.valuemin ?? ''}..${s.valuemax ?? ''}`);
  if (s.disabled) w.push('disabled');
  if (s.expanded !== undefined) w.push(s.expanded ? 'expanded' : 'collapsed');
  if (s.selected !== undefined && (s.selected || (role !== 'option' && role !== 'tab'))) w.push(s.selected ? 'selected' : 'not selected');
  for (const flag of ['required', 'readonly', 'invalid', 'focused', 'multiline', 'clickable', 'unseen']) if (s[flag]) w.push(flag);
  if (s.scrollable) w.push(`scrollable ${s.scrollable.x},${s.scrollable.y}`);
  if (s.covered !== undefined) w.push(`covered by ${s.covered}`);
  if (s.frame !== undefined) w.push(`frame ${s.frame}`);
  if (s.unreadable !== undefined) w.push(`unreadable: ${s.unreadable}`);
  return w;
}
