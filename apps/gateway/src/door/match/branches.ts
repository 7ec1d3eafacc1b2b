// Keeps the branches of one session apart.
import { tellsAlone } from "./sketch.ts";

/** What one request had, and the reply to it. */
export interface Branch {
  /** Where the request ended. */
  tip: string;
  /** By what its messages and the reply are found. */
  tokens: readonly string[];
  /** How many of them, at the end, are the reply. */
  replied: number;
  /** Tokens of whole replies behind which the same was asked again. Absent: none was. */
  others?: readonly string[];
}

/** A conversation is seldom resumed more often at once. */
const MOST_BRANCHES = 12;

/** Newest first. What the request goes on from is no branch of its own any more. */
export function branchesBehind(
  branches: readonly Branch[],
  { end, kept, added }: { end: string; kept: number; added: readonly string[] },
): Branch[] {
  const tokens = [...(branches[0]?.tokens ?? []).slice(0, kept), ...added];
  const left = branches.filter((branch) => !isTakenOn(branch, tokens));
  const others = branches.flatMap((branch) => repliesTo(branch, tokens));
  const newest = { tip: end, tokens, replied: 0, ...(others.length > 0 && { others }) };
  return [newest, ...left].slice(0, MOST_BRANCHES);
}

/** What was replied where just this was asked before, whichever of it its client goes on with. */
function repliesTo({ tokens, replied, others = [] }: Branch, asked: readonly string[]) {
  const isSame =
    tokens.length - replied === asked.length && lengthOfCommonStart(tokens, asked) === asked.length;
  return isSame ? [...others, ...tokens.slice(asked.length)].slice(-MOST_OTHERS) : [];
}

/** Of some replies that were asked for again and again. */
const MOST_OTHERS = 64;

/** The same with a reply to the request that ended there; `told` are its tokens. */
export function branchesReplied(
  branches: readonly Branch[],
  end: string,
  told: readonly string[],
): readonly Branch[] {
  const asked = branches.findIndex(({ tip }) => tip === end);
  return branches.map((branch, place) =>
    place === asked
      ? {
          ...branch,
          tokens: [...branch.tokens, ...told],
          replied: branch.replied + told.length,
        }
      : branch,
  );
}

/** All that was asked stands at the beginning, or its reply somewhere, behind the request. */
function isTakenOn({ tokens, replied }: Branch, next: readonly string[]): boolean {
  const asked = tokens.length - replied;
  if (lengthOfCommonStart(tokens, next) >= asked) return true;
  if (replied === 0) return false;
  const reply = new Set(tokens.slice(asked));
  const isBehindIt = (at: number) => {
    for (let back = 1; back <= Math.min(NEAR, asked); back++)
      if (next[at - back] !== tokens[asked - back]) return false;
    return true;
  };
  // What was replied before just so tells nothing.
  const tellsIt = (token: string) => tellsAlone(token) && tokens.indexOf(token) >= asked;
  return next.some((token, at) => reply.has(token) && (tellsIt(token) || isBehindIt(at)));
}

/** So much before a call tells it from others like it. */
const NEAR = 6;

export function lengthOfCommonStart(a: readonly string[], b: readonly string[]): number {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same;
}
