// An agent that brings all of its history with each request, whichever gateway it asks.
import { setTimeout as after } from "node:timers/promises";
import type { Said } from "../door/testing/conversation.ts";
import type { DoorApi } from "../door/wires/door-wire.ts";
import { ask, person, results, type Sent } from "./door-client.ts";
import type { TestGateway } from "./gateway.ts";

export type AskedGateway = Pick<TestGateway, "get">;

export const gatewayAt = ({ port }: { port: number }): AskedGateway => ({
  get: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
});

const MOST_ATTEMPTS = 300;
const AGAIN_MS = 100;

export class WanderingAgent {
  /** What its session is to hold, in order. */
  readonly texts: string[] = [];
  /** Where its requests were answered. */
  readonly sessions = new Set<string>();
  /** Requests that it had to send again. */
  repeated = 0;
  readonly api: DoorApi;
  readonly name: string;
  readonly #said: Said[] = [];

  constructor(api: DoorApi, name: string) {
    this.api = api;
    this.name = name;
  }

  /** Says something and runs what tools are called, until there is an answer. */
  async turn(gateways: readonly AskedGateway[], text: string, sent: Sent = {}): Promise<void> {
    this.#said.push(person(text));
    this.texts.push(text);
    while (await this.#step(gateways, sent));
  }

  /** True: tools were called, and have answered. */
  async #step(gateways: readonly AskedGateway[], sent: Sent): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      const gateway = gateways[attempt % gateways.length]!;
      const asked = { tools: ["read"], ...sent };
      const reply = await ask(gateway, this.api, this.#said, asked).catch(() => undefined);
      const isWhole = reply?.error === null && reply.answer.ok && reply.text !== "";
      if (reply !== undefined && isWhole) {
        this.sessions.add(reply.answer.headers.get("x-clew-session") ?? "none");
        const calls = reply.calls.map(({ id, name, arguments: args }) => ({ id, name, args }));
        this.#said.push({ uid: null, by: "model", text: reply.text, calls });
        this.texts.push(reply.text);
        if (calls.length === 0) return false;
        const told = calls.map(({ id, name, args }) => ({
          ...{ id, name, text: `result of ${JSON.stringify(args)}` },
        }));
        this.#said.push(results(...told));
        this.texts.push(...told.map(({ text }) => text));
        return true;
      }
      if (attempt > MOST_ATTEMPTS)
        throw new Error(`${this.name} is not answered: ${reply?.body ?? "nobody is there"}`);
      this.repeated++;
      await after(AGAIN_MS);
    }
  }
}

interface Entry {
  message?: { role: string; content: string | { type: string; text?: string }[] };
}

/** What stands in a session, as a gateway shows it. */
export async function textsIn(gateway: AskedGateway, session: string): Promise<string[]> {
  const response = await gateway.get(`/api/sessions/${encodeURIComponent(session)}?limit=100000`);
  const { entries = [] } = (await response.json()) as { entries?: Entry[] };
  return entries.flatMap(({ message }) => {
    if (message === undefined) return [];
    const { content } = message;
    const texts = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return [texts.flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : [])).join("")];
  });
}
