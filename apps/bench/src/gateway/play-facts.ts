// Plays an agent's calls through the door, and tells which facts the asked request holds.
import { rm } from "node:fs/promises";
import type { Said } from "../../../gateway/src/door/testing/conversation.ts";
import { startUpstream } from "../../../gateway/src/door/testing/upstream.ts";
import { writeReply } from "../../../gateway/src/door/testing/write-reply.ts";
import { writeRequest } from "../../../gateway/src/door/testing/write-request.ts";
import type { DoorApi } from "../../../gateway/src/door/wires/door-wire.ts";
import { ASKED_AT, CALLS, type FactSession, type PlantedFact } from "./door-facts.ts";
import { newHome, startGateway } from "./gateway-process.ts";

export interface PlayedFacts {
  /** Those that the request of call 45 held. */
  held: ReadonlySet<PlantedFact>;
  /** Requests that began with all of the one before. */
  kept: number;
}

const TOOL = "read";
const SEARCH = "session_search";
const PATHS: Readonly<Record<DoorApi, string>> = {
  "openai-completions": "/v1",
  "openai-responses": "/v1",
  "anthropic-messages": "",
  "google-generative-ai": "/v1beta",
};

export async function playFacts(
  api: DoorApi,
  plan: FactSession,
  { window, recall }: { window: number; recall: boolean },
): Promise<PlayedFacts> {
  /** By call of the client; the newest that was asked for it. */
  const bodies: string[] = [];
  let at = 0;
  const upstream = await startUpstream(({ bytes }, response) => {
    const body = bytes.toString();
    const missing = plan.facts.filter(({ answer }) => !body.includes(answer));
    const mayLook = body.includes(SEARCH) && at === ASKED_AT && bodies[at - 1] === undefined;
    bodies[at - 1] = body;
    const looks = mayLook && missing.length > 0;
    const { text, args } = plan.calls[at - 1]!;
    const asking = missing.map(({ query }, index) => ({
      ...{ id: `look_${index}`, name: SEARCH, args: { query } },
    }));
    const calls = looks ? asking : [{ id: `call_${at}`, name: TOOL, args }];
    const usage = { input: Math.ceil(bytes.length / 4), output: 20 };
    const { contentType, pieces } = writeReply(
      api,
      { text: looks ? "" : text, thinking: "", calls },
      { id: `r${upstream.heard.length}`, usage, streaming: true },
    );
    response.writeHead(200, { "content-type": contentType }).end(pieces.join(""));
  });
  const models = [{ id: "model", contextWindow: window }];
  const provider = { baseUrl: `${upstream.url}${PATHS[api]}`, api, apiKey: "key", models };
  const home = await newHome({
    models: { providers: { local: provider } },
    door: { recallTools: recall, upstreams: { [api]: { provider: "local" } } },
  });
  const gateway = await startGateway({ home });
  try {
    const said: Said[] = [{ uid: null, by: "person", text: plan.person }];
    for (at = 1; at <= CALLS; at++) {
      await ask(api, gateway.url, said);
      said.push(...roundOf(plan, at));
    }
  } finally {
    await gateway.stop();
    await upstream.close();
    await rm(home, { recursive: true, force: true });
  }
  return { held: heldIn(plan, bodies[ASKED_AT - 1]!), kept: keptIn(api, bodies) };
}

/** What a client that compacts by itself would send, modelled. */
export function compactByClient(plan: FactSession, window: number): PlayedFacts {
  let history = "";
  let kept = 0;
  for (let at = 1; at < ASKED_AT; at++) {
    const round = JSON.stringify(roundOf(plan, at));
    const isOver = (plan.person.length + history.length + round.length) / 4 > 0.9 * window;
    if (!isOver) kept++;
    history = isOver ? `${history.slice(-SUMMARY_CHARS)}\n${round}` : `${history}\n${round}`;
  }
  return { held: heldIn(plan, JSON.stringify(`${plan.person}\n${history}`)), kept };
}

const SUMMARY_CHARS = 4_000;

function roundOf({ calls }: FactSession, at: number): Said[] {
  const { text, args, result } = calls[at - 1]!;
  const call = { id: `call_${at}`, name: TOOL };
  return [
    { uid: null, by: "model", text, calls: [{ ...call, args }] },
    { uid: null, by: "tools", results: [{ ...call, text: result }] },
  ];
}

async function ask(api: DoorApi, url: string, said: readonly Said[]): Promise<void> {
  const { path, body } = writeRequest(api, said, {
    ...{ model: "model", head: ["You are an agent."], tools: [TOOL, "write"], marks: true },
  });
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`The door answered ${answer.status}: ${text.slice(0, 300)}`);
}

const heldIn = ({ facts }: FactSession, body: string) =>
  new Set(facts.filter(({ answer }) => body.includes(answer)));

function keptIn(api: DoorApi, bodies: readonly string[]): number {
  const lists = bodies.map((body) => {
    const { messages, input, contents } = JSON.parse(body, (name, value: unknown) =>
      name === "cache_control" ? undefined : value,
    ) as { messages?: object[]; input?: object[]; contents?: object[] };
    return (messages ?? input ?? contents ?? []).map((one) => plainOf(api, one));
  });
  return lists.filter((list, at) =>
    (lists[at - 1] ?? []).every((one, index) => one === list[index]),
  ).length;
}

/** A marker makes a list of a text. */
function plainOf(api: DoorApi, message: object): string {
  const { content } = message as { content?: unknown };
  if (api !== "anthropic-messages" || typeof content !== "string") return JSON.stringify(message);
  return JSON.stringify({ ...message, content: [{ type: "text", text: content }] });
}
