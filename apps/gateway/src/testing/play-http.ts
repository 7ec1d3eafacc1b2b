// Plays agents over HTTP at a real gateway, and tells what went wrong.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { createChance } from "../demo/chance.ts";
import { Agent, type Ask, type Reply, type World } from "../door/testing/agents.ts";
import type { Habits } from "../door/testing/habits.ts";
import type { Fault, ReplyingUpstream } from "../door/testing/http-world.ts";
import type { TestGateway } from "./gateway.ts";

/** What was really said in a conversation. */
interface Book {
  agent: Agent;
  /** Where the door put it, once a model had spoken. */
  sessions: Set<string>;
  /** Uids of what persons said, and ids of results, as far as they were sent. */
  persons: Set<string>;
  /** Texts that clients made up, which may be stored, or not. */
  made: Set<string>;
  results: Set<string>;
  /** Texts that the agent has from the model whole, or sent back. */
  replies: Set<string>;
}

export interface HttpPlay {
  dice: number;
  habits: readonly Habits[];
  steps: number;
  /** What may go wrong; drawn for a share of the requests. */
  faults: readonly Fault[];
  /** Steps between two restarts of the gateway. */
  restartsEvery: number;
  upstream: ReplyingUpstream;
  /** Starts a gateway on the home of the one before, which was stopped. */
  start(): Promise<TestGateway>;
}

export const FAULTS: readonly Fault[] = ["429", "500", "broken", "no-end"];

/** Sentences; an empty list is what is wanted. */
export async function playHttp(options: HttpPlay): Promise<string[]> {
  const { dice, habits, steps, faults, restartsEvery, upstream, start } = options;
  const chance = createChance(dice);
  let count = 0;
  const world: World = { chance, next: () => ++count, agents: [] };
  for (const own of habits) new Agent(world, own);
  const books = new Map<Agent, Book>();
  const wrong: string[] = [];
  let gateway = await start();

  const replyTo = (agent: Agent, { wantsWords }: Ask): Reply => {
    const { api } = agent.habits;
    const calls = wantsWords || chance.happens(0.3) ? 0 : 1 + chance.below(2);
    const says = calls === 0 || chance.happens(0.5);
    return {
      text: says ? `A reply of many and more and still more words, number ${++count}.` : "",
      thinking: api === "openai-completions" && chance.happens(0.5) ? "" : `t${++count}`,
      calls: Array.from({ length: calls }, (_, index) => ({
        ...{ id: agent.idOf(index, "read"), name: "read", args: { path: `f${++count}` } },
      })),
    };
  };
  const bookOf = (agent: Agent): Book => {
    const known = books.get(agent);
    if (known !== undefined) return known;
    const sets = {
      ...{ persons: new Set<string>(), made: new Set<string>(), results: new Set<string>() },
    };
    const book = { agent, sessions: new Set<string>(), replies: new Set<string>(), ...sets };
    books.set(agent, book);
    return book;
  };
  const playOne = async (agent: Agent) => {
    const ask = agent.ask();
    if (ask === undefined) return;
    const isGoogle = agent.habits.api === "google-generative-ai";
    const drawn = faults.length > 0 && chance.happens(0.15) ? chance.pick(faults) : undefined;
    const fault = isGoogle && drawn === "no-end" ? "broken" : drawn;
    const reply = withoutIds(replyTo(agent, ask), agent.habits);
    const hasBegun = agent.said.some(({ by }) => by === "model");
    const book = bookOf(agent);
    if (ask.kind === "turn")
      for (const one of agent.said)
        if ("text" in one && (one.isSummary || (one.by === "person" && one.uid === null)))
          book.made.add(one.text);
        else if (one.by === "person") book.persons.add(one.uid!);
        else if (one.by === "model" && one.uid !== null && one.text !== "")
          book.replies.add(one.text);
    const results = agent.said.flatMap((one) => (one.by === "tools" ? one.results : []));
    const played = await upstream.play(gateway.url, ask, { reply, fault });
    if (played.session === null) return wrong.push(`${agent.label}: no session was named`);
    if (fault === "429" && played.headers.get("retry-after") !== "7")
      wrong.push(`${agent.label}: when to ask again was not told`);
    if (ask.kind !== "turn") return;
    for (const { id } of results) if (id !== "") book.results.add(id);
    if (hasBegun) book.sessions.add(played.session);
    // What is not whole is stored when its client sends it back.
    if (played.hasReply && fault === undefined && reply.text !== "") book.replies.add(reply.text);
  };

  for (let step = 0; step < steps && wrong.length === 0; step++) {
    if (step % restartsEvery === restartsEvery - 1) {
      await gateway.stop();
      gateway = await start();
    }
    const together = new Set([1, 2, 3].map(() => chance.pick(world.agents)));
    await Promise.all([...together].map(playOne));
  }
  await gateway.gateway.door.settled();
  wrong.push(...(await judge(gateway, [...books.values()])));
  await gateway.stop();
  return wrong;
}

const withoutIds = (reply: Reply, { ids }: Habits): Reply =>
  ids === false ? { ...reply, calls: reply.calls.map((call) => ({ ...call, id: "" })) } : reply;

async function judge({ gateway }: TestGateway, books: readonly Book[]): Promise<string[]> {
  const wrong: string[] = [];
  const owners = new Map<string, string>();
  for (const { agent, sessions, persons, made, results, replies } of books) {
    const { label, habits } = agent;
    if (sessions.size > 1) wrong.push(`${label} was split: ${[...sessions].join(", ")}`);
    const [session] = sessions;
    if (session === undefined) continue;
    const owner = owners.get(session);
    if (owner !== undefined) wrong.push(`${label} was merged with ${owner}`);
    owners.set(session, label);
    const branch = (await gateway.store.read(session))?.branch ?? [];
    const stored = branch.flatMap((entry): AgentMessage[] =>
      entry.type === "message" ? [entry.message] : [],
    );
    const said = stored.filter(({ role }) => role === "user").length;
    if (said < persons.size || said > persons.size + made.size)
      wrong.push(`${label}: ${said} of ${persons.size} persons' messages`);
    const ids = stored.flatMap((one) => (one.role === "toolResult" ? [one.toolCallId] : []));
    if (habits.ids !== false) {
      const wanted = [...results].sort();
      if (ids.toSorted().join() !== wanted.join())
        wrong.push(`${label}: results ${ids.toSorted().join()} instead of ${wanted.join()}`);
    }
    const texts = stored.flatMap((one) =>
      one.role === "assistant"
        ? one.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
        : [],
    );
    for (const text of replies) {
      const times = texts.filter((each) => each === text).length;
      if (times !== 1) wrong.push(`${label}: stored ${times} times: ${text}`);
    }
  }
  return wrong;
}
