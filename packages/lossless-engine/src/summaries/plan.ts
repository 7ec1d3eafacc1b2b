// Decides which messages the next summary stands for, and which summaries become one.

/** How large a graph's parts are. */
export interface GraphSizes {
  /** Estimated tokens of the messages of a leaf; one message more may be in it. */
  readonly leafTokens: number;
  /** Summaries that become one. */
  readonly fanIn: number;
  /** The newest summaries of a depth, which stay as fine as they are. */
  readonly kept: number;
}

/**
 * A leaf is what a reader takes in at once. With these, a million tokens are named by some two
 * dozen summaries, of which the oldest is of depth 3; ten times as much by six more.
 */
export const GRAPH_SIZES: GraphSizes = { leafTokens: 4_000, fanIn: 4, kept: 4 };

/** A message that no summary stands for yet. */
export interface Waiting {
  /** Estimated. */
  readonly tokens: number;
  /** True: a person's words begin a turn with it. */
  readonly isRequest: boolean;
}

/**
 * How many of the waiting messages, oldest first, the next leaf stands for; 0 = they are too few. A
 * leaf ends before a request once it is half full.
 */
export function planLeaf(waiting: readonly Waiting[], { leafTokens }: GraphSizes): number {
  let tokens = 0;
  for (const [at, next] of waiting.entries()) {
    if (next.isRequest && at > 0 && tokens >= leafTokens / 2) return at;
    tokens += next.tokens;
    if (tokens >= leafTokens) return at + 1;
  }
  return 0;
}

/** Summaries of a frontier that become one. */
export interface Condensation {
  /** Index of the first. */
  readonly from: number;
  /** Index behind the last. */
  readonly to: number;
}

/**
 * The oldest summaries of one depth, once there are as many as one of the next takes beside those
 * that stay: the frontier grows up to there and then gets shorter. Null: none are due.
 */
export function planCondensation(
  frontier: readonly { readonly depth: number }[],
  { fanIn, kept }: GraphSizes,
): Condensation | null {
  for (let to = frontier.length; to > 0; ) {
    const { depth } = frontier[to - 1]!;
    let from = to - 1;
    while (from > 0 && frontier[from - 1]!.depth === depth) from--;
    if (to - from >= kept + fanIn) return { from, to: from + fanIn };
    to = from;
  }
  return null;
}
