// @ts-check
// Regular expressions of callers, where JavaScript's own are at hand.

/**
 * `tabd.urlMatches({pattern, url})` -> `{matches}`, or `bad_request` for what is no regular expression.
 * @param {{pattern: string, url: string}} args
 * @returns {object}
 */
function urlMatches(args) {
  try {
    return { matches: new RegExp(args.pattern).test(args.url) };
  } catch {
    return failure('bad_request', `${quoted(args.pattern)} is not a regular expression`, 'escape . ? + ( [ with a backslash', { argument: 'url_re' });
  }
}
