// Asks an engine's own recall tools for names and whole messages, as a model would.
import type { ToolPort } from "@clew/engine-core";
import type { OpenSession } from "../../../gateway/src/sessions/open.ts";
import { messageAt, READS, type Recall, recordsIn } from "./recall.ts";
import type { Script } from "./script.ts";

/** Under these names engines offer a search, and stored messages whole. */
export const ENGINE_TOOLS = { search: "lcm_grep", read: "lcm_describe" } as const;

/** What a page of one message reads like: a label, the text in its fence, and where it goes on. */
const PAGE =
  /^[^\n]*\n<stored ([0-9a-f]+)>\n([\s\S]*)\n<\/stored \1>(?:\nCharacters \d+ to \d+ of \d+(?:; to go on: (\{.*\}))?\.)?$/;

/** Undefined: the session is offered no such tools. */
export function engineRecall(
  { names, messages }: Script,
  session: OpenSession,
  tools: ToolPort,
  signal: AbortSignal,
): Recall | undefined {
  const offered = new Set(tools.list(session.session).map(({ name }) => name));
  if (!Object.values(ENGINE_TOOLS).every((name) => offered.has(name))) return undefined;
  const run = async (name: string, args: Record<string, unknown>) => {
    const call = { type: "toolCall" as const, id: "bench", name, arguments: args };
    const { content } = await tools.run({ call, session: session.session, signal });
    return content.map((block) => (block.type === "text" ? block.text : "")).join("");
  };
  return {
    async find(name) {
      const pattern = names[name];
      const answer = await run(ENGINE_TOOLS.search, { pattern, sort: "relevance" });
      return { texts: recordsIn(answer), answer };
    },
    async read(place) {
      const id = messageAt(session, messages[place]!)?.id;
      let asked: Record<string, unknown> | undefined = id === undefined ? undefined : { id };
      const answers: string[] = [];
      const pages: string[] = [];
      for (let read = 0; read < READS && asked !== undefined; read++) {
        const answer = await run(ENGINE_TOOLS.read, asked);
        const [, , text = "", next] = PAGE.exec(answer) ?? [];
        answers.push(answer);
        pages.push(text);
        asked = next === undefined ? undefined : JSON.parse(next);
      }
      return { texts: [pages.join("")], answer: answers.join("\n") };
    },
  };
}
