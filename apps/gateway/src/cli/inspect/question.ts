// What one `clew inspect` is to answer, by its flags.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { placeInWords } from "../../inspect/call-words.ts";
import { callId } from "../../inspect/placed-call.ts";

export interface InspectOptions {
  call?: string;
  dearest?: boolean;
  fullest?: boolean;
  turn?: number;
  diff?: string;
  entry?: string;
  find?: string;
  /** Of `find`. */
  after?: number;
  limit?: number;
  bisect?: string;
  request?: boolean;
  json?: boolean;
}

/** A call by its name, or as the one that stands out by something. */
export type CallNamed = { id: string } | { by: "newest" | "dearest" | "fullest" };

export type Question =
  | { kind: "list" }
  | { kind: "turn"; turn: number }
  | { kind: "call"; call: CallNamed }
  | { kind: "request"; call: CallNamed }
  | { kind: "diff"; from: string; to: CallNamed }
  | { kind: "entry"; name: string }
  | { kind: "find"; text: string; after: number | undefined; limit: number | undefined }
  | { kind: "bisect"; text: string };

/** Each line: flags of which one asks for something else than another. */
const APART: readonly (readonly (keyof InspectOptions)[])[] = [
  ["call", "dearest", "fullest", "turn", "entry", "find", "bisect"],
  ["diff", "turn", "entry", "find", "bisect", "request"],
];

/** Pure. Throws where the flags ask for several things, or lack what one of them needs. */
export function planQuestion(options: InspectOptions): Question {
  const { call, turn, diff, entry, find, bisect, request, after, limit } = options;
  for (const flags of APART) {
    const [one, other] = flags.filter((flag) => isGiven(options[flag]));
    if (other !== undefined)
      throw refused(
        `--${one} and --${other} ask for different things, and one answer is given at a time; leave one of them out.`,
      );
  }
  if (find === undefined && (after !== undefined || limit !== undefined))
    throw refused(
      "--after and --limit page through what --find finds; name the text, as in: clew inspect main --find KEY-4711 --after 250",
    );
  if (limit === 0)
    throw refused(
      "--limit says how many entries are named at once, so it is at least 1; absent it is 200",
    );
  for (const flag of ["find", "bisect"] as const)
    if (options[flag] === "")
      throw refused(
        `--${flag} looks for a text, and an empty one stands everywhere; name it, as in: clew inspect main --${flag} KEY-4711`,
      );
  const named = namedBy(options);
  if (request === true && named === undefined)
    throw refused(
      "--request prints the request of one call; name it with --call, as in: clew inspect main --call 58.3 --request",
    );
  if (find !== undefined) return { kind: "find", text: find, after, limit };
  if (bisect !== undefined) return { kind: "bisect", text: bisect };
  if (entry !== undefined) return { kind: "entry", name: entry };
  if (turn !== undefined) return { kind: "turn", turn };
  if (diff !== undefined)
    return { kind: "diff", from: idOf("diff", diff), to: named ?? { by: "newest" } };
  if (named === undefined) return { kind: "list" };
  return { kind: request === true ? "request" : "call", call: named };

  function namedBy({ dearest, fullest }: InspectOptions): CallNamed | undefined {
    if (call !== undefined) return { id: idOf("call", call) };
    if (dearest === true) return { by: "dearest" };
    return fullest === true ? { by: "fullest" } : undefined;
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== false;

/** As it is called; what names no call is looked for as it is written. */
function idOf(flag: "call" | "diff", words: string): string {
  const place = placeInWords(/^\s*\d+\s*$/.test(words) ? `t${words.trim()}` : words);
  if (place === null) return words;
  if (place.number === null)
    throw refused(
      `--${flag} names one call, as in 58.3, the third of turn 58; "clew inspect" with --turn ${place.turn} lists the calls of that turn`,
    );
  return callId({ turn: place.turn, number: place.number });
}

const refused = (message: string) => new ContextEngineError("REQUEST_INVALID", message);
