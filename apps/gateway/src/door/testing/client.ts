// A client that sends its whole history, and calls a tool once a round.
import type { DoorApi } from "../wires/door-wire.ts";
import type { Ask, Reply } from "./agents.ts";
import type { Said } from "./conversation.ts";
import { writeRequest } from "./write-request.ts";

/** A client without a name for its conversation, which calls a tool once a round. */
export class TestClient {
  said: Said[] = [];
  readonly #api: DoorApi;
  readonly #more: { maxTokens?: number; chars?: number; code?: boolean; ids?: boolean };
  #rounds = 0;

  constructor(
    api: DoorApi,
    more: { maxTokens?: number; chars?: number; code?: boolean; ids?: boolean } = {},
  ) {
    this.#api = api;
    this.#more = more;
  }

  say(text: string): void {
    this.said.push({ uid: text, by: "person", text });
  }

  ask(): Ask {
    const { maxTokens, code, ids } = this.#more;
    const request = writeRequest(this.#api, this.said, {
      ...{ model: "model", head: ["You are an agent."], tools: ["read", "write"], marks: true },
      ...(maxTokens !== undefined && { maxTokens }),
      ...(code && { code }),
      ...(ids === false && { ids }),
    });
    return {
      ...{ kind: "turn", request, headers: {}, wantsWords: false },
      take: (reply) => {
        if (reply !== null) this.#take(reply);
      },
    };
  }

  /** Its own compaction: the same history, and a wish for a summary behind. */
  askForSummary(): Ask {
    const wish = `Write a detailed summary of this conversation. ${"Name every file. ".repeat(60)}`;
    const asking = [...this.said, { uid: null, by: "person" as const, text: wish }];
    const request = writeRequest(this.#api, asking, {
      ...{ model: "model", head: ["You are an agent."], tools: ["read", "write"] },
    });
    return { kind: "beside", request, headers: {}, wantsWords: true, take: () => {} };
  }

  /** The reply that calls a tool for the next round. */
  reply(): Reply {
    const round = ++this.#rounds;
    const id = `call_${round}`;
    return { text: "", thinking: "", calls: [{ id, name: "read", args: { path: `f${round}` } }] };
  }

  #take({ text, thinking, calls }: Reply): void {
    this.said.push({ uid: null, by: "model", text, thinking, calls });
    const { chars = 200 } = this.#more;
    const results = calls.map(({ id, name }) => ({ id, name, text: `${id} ${"x".repeat(chars)}` }));
    if (results.length > 0) this.said.push({ uid: null, by: "tools", results });
  }
}
