// What whoever reads a request can ask for besides.
import type { ToolPort } from "@clew/engine-core";
import { SESSION_TOOLS } from "../../../gateway/src/recall/record-text.ts";
import type { OpenSession } from "../../../gateway/src/sessions/open.ts";
import type { Script } from "./script.ts";
import { textsOf } from "./texts.ts";

/** Ways back to what is not in view. */
export interface Recall {
  /** What one call for a name gives back; the name by its place in the script's. */
  find(
    name: number,
    view: { named: ReadonlySet<number>; history: number },
  ): Promise<readonly string[]>;
  /** What at most two calls for a message give back; the message by its place in the recording. */
  read(place: number): Promise<readonly string[]>;
}

/** Calls that one message may take. */
const READS = 2;

/** The session's own tools, used as a model would: a search for a name, pages of a message. */
export function sessionRecall(
  { names, messages }: Script,
  session: OpenSession,
  tools: ToolPort,
  signal: AbortSignal,
): Recall {
  const run = async (name: string, args: Record<string, unknown>) => {
    const call = { type: "toolCall" as const, id: "bench", name, arguments: args };
    const { content } = await tools.run({ call, session: session.session, signal });
    return content.map((block) => (block.type === "text" ? block.text : "")).join("");
  };
  return {
    find: async (name) => recordsIn(await run(SESSION_TOOLS.search, { query: names[name] })),
    async read(place) {
      const number = numberOf(session, messages[place]!);
      const pages: string[] = [];
      for (let page = 1; page <= READS && number > 0; page++) {
        const answer = await run(SESSION_TOOLS.read, { id: `#${number}`, page });
        pages.push(...recordsIn(answer));
        if (!answer.endsWith(`There is more: page ${page + 1}.`)) break;
      }
      return [pages.join("")];
    },
  };
}

const recordsIn = (answer: string): string[] =>
  [...answer.matchAll(/<record [^>]*>\n([\s\S]*?)\n<\/record>/g)].map(([, text]) => text ?? "");

/** Where the session holds a message with the same text, counted from 1; 0 = nowhere. */
function numberOf(session: OpenSession, message: Script["messages"][number]): number {
  const wanted = JSON.stringify(textsOf(message));
  const stored = session.branch().filter(({ type }) => type === "message");
  const known =
    numbers.get(session.branch()) ??
    new Map(
      stored.map((entry, at) => [
        entry.type === "message" ? JSON.stringify(textsOf(entry.message)) : "",
        at + 1,
      ]),
    );
  numbers.set(session.branch(), known);
  return known.get(wanted) ?? 0;
}

const numbers = new WeakMap<object, Map<string, number>>();
