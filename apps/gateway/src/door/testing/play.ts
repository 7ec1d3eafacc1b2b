// Plays agents at one door, and tells what it got wrong of what was really said.
import { createChance } from "../../demo/chance.ts";
import type { MatchedBy } from "../match/plan-match.ts";
import { Agent, type Ask, type Reply, type World } from "./agents.ts";
import type { Habits } from "./habits.ts";
import { type Handled, PlayedDoor } from "./play-door.ts";

interface Flight {
  agent: Agent;
  ask: Ask;
  handled: Handled;
}

export interface Played {
  /** What went wrong, as sentences; an empty list is what is wanted. */
  wrong: string[];
  /** By what turns were recognised. */
  ways: Set<MatchedBy>;
}

export function play(seed: number, habitsOf: readonly Habits[], steps: number): Played {
  let count = 0;
  const chance = createChance(seed);
  const world: World = { chance, next: () => ++count, agents: [] };
  for (const own of habitsOf) new Agent(world, own);
  const door = new PlayedDoor();
  const flights: Flight[] = [];
  const labels = new Map<string, string>();
  const sessions = new Map<string, string>();
  const stored = new Map<string, number>();
  /** By what a wish for a summary is found that seemed to be a turn. */
  const briefly = new Map<string, string>();
  const wrong: string[] = [];
  const ways = new Set<MatchedBy>();

  const argsOf = ({ label, habits: { ids, ownIds, compaction } }: Agent) => {
    // Where ids do not tell calls from each other, arguments may not either, within a conversation;
    // of what a compaction keeps, nothing else would tell which it was.
    const mayRepeat = ids !== undefined && (ids !== "restarting" || compaction === undefined);
    return (mayRepeat || ownIds !== undefined) && chance.happens(0.5)
      ? `${label}/f${chance.below(2)}`
      : `f${++count}`;
  };

  const replyOf = ({ ask, agent }: Flight): Reply | null => {
    const own = agent.habits;
    if (chance.happens(0.08)) return null;
    const { isWordless = false } = own;
    const answers = chance.happens(isWordless ? 0.05 : 0.3);
    const calls = ask.wantsWords || answers ? 0 : 1 + chance.below(2);
    return {
      text:
        calls > 0 && (isWordless || chance.happens(0.5))
          ? ""
          : `A reply of many and more and still more words, of which this is number ${++count}.`,
      thinking: own.api === "openai-completions" && chance.happens(0.5) ? "" : `t${++count}`,
      calls: Array.from({ length: calls }, (_, index) => ({
        ...{ id: agent.idOf(index, "read"), name: "read" },
        args: { path: argsOf(agent) },
      })),
    };
  };

  /** A summary that was asked for where nothing told of which session. */
  const isStrange = ({ said, habits: own }: Agent, uid: string, session: string) => {
    if (own.headers !== undefined) return false;
    const summary = said.find((one) => one.uid === uid && one.isSummary);
    const known = door.known.session(session)?.summaries ?? [];
    return (
      summary !== undefined &&
      "text" in summary &&
      !known.some((text) => summary.text.includes(text))
    );
  };

  const land = (flight: Flight) => {
    const { agent, ask, handled } = flight;
    const reply = replyOf(flight);
    door.reply(handled, reply, agent.habits.ids !== false);
    const before = agent.said.length;
    ask.take(reply);
    const said = agent.said.slice(before).findLast(({ by }) => by === "model");
    if (ask.kind === "turn" && said?.uid) stored.set(`${handled.session} ${said.uid}`, 1);
  };

  const send = (agent: Agent, ask: Ask) => {
    const handled = door.request(agent.habits.api, ask);
    const { session, match, plan, sketch } = handled;
    flights.push({ agent, ask, handled });
    const tell = (text: string) => wrong.push(`${agent.label}: ${text} (by ${match.by})`);
    if (ask.isBrief && match.kind === "turn") {
      // It is stored as a turn until its client goes on by the reply.
      for (const index of plan.fresh) stored.set(`${session} ${ask.request.uids[index]}`, 1);
      if (session !== sessions.get(agent.label)) tell("a wish for a summary was split off");
      briefly.set(agent.label, sketch.messages.at(-1)!.token!);
      return;
    }
    if (ask.kind === "beside") {
      if (session === sessions.get(agent.label) && plan.fresh.length > 0)
        tell(`a request beside the session stored ${plan.fresh.length} messages`);
      else if (labels.has(session) && labels.get(session) !== agent.label)
        tell(`a request beside went to ${labels.get(session)}`);
      else if (ask.showsIds && match.by === "nothing")
        tell("a request beside, with ids of the session, opened another");
      else if (ask.quotes && session !== sessions.get(agent.label))
        tell("all that was said, in one text, was split off");
      return;
    }
    ways.add(match.by);
    if (match.kind !== "turn") tell(`a turn was taken for ${match.kind}`);
    const examples = agent.habits.examples?.filter(({ by }) => by === "model") ?? [];
    const replies = sketch.messages.filter(({ speaker }) => speaker === "model");
    const hasBegun = replies.length > examples.length;
    const isFirst = !hasBegun && !sessions.has(agent.label);
    // Whoever asks first in the same words may take the place of another who got no answer.
    if (isFirst) {
      for (const uid of ask.request.uids) stored.set(`${session} ${uid}`, 1);
      return;
    }
    const label = labels.get(session) ?? agent.label;
    if (label !== agent.label) tell(`was merged with ${label}`);
    const known = sessions.get(agent.label) ?? session;
    // Where nothing told whose summary was wanted, ids that count up do not either.
    const isTold = agent.habits.ids === undefined || match.by !== "nothing";
    const isOtherwise = agent.said.some(({ isSummary }) => isSummary) && !isTold;
    if (known !== session && !isOtherwise) tell(`was split from ${known}`);
    labels.set(session, agent.label);
    sessions.set(agent.label, session);

    const wish = briefly.get(agent.label);
    if (wish !== undefined && plan.summary !== undefined && plan.fresh.includes(plan.summary)) {
      if (plan.takenBack?.[0] !== wish) tell("a client's wish for a summary stays on the branch");
      briefly.delete(agent.label);
    }
    const leading = ask.request.uids.length === sketch.messages.length;
    if (!leading) tell("its messages were not counted");
    const freshUids = new Set(plan.fresh.map((index) => ask.request.uids[index]));
    for (const uid of new Set(ask.request.uids)) {
      if (uid === null || uid === undefined) continue;
      const times = stored.get(`${session} ${uid}`) ?? 0;
      if (freshUids.has(uid) && times > 0) tell(`${uid} was stored twice`);
      if (!freshUids.has(uid) && times === 0 && !isStrange(agent, uid, session))
        tell(`${uid} was lost`);
      stored.set(`${session} ${uid}`, 1);
    }
  };

  for (let step = 0; step < steps && wrong.length === 0; step++) {
    if (chance.happens(0.02)) {
      for (const flight of flights.splice(0)) land(flight);
      door.restart();
    }
    const agent = chance.pick(world.agents);
    const own = flights.filter((flight) => flight.agent === agent);
    const waits = own.some(({ ask }) => ask.kind === "turn");
    if (own.length > 0 && (waits || chance.happens(0.5))) {
      const flight = chance.pick(own);
      flights.splice(flights.indexOf(flight), 1);
      land(flight);
    } else if (!waits) {
      const ask = agent.ask();
      if (ask !== undefined) send(agent, ask);
    }
  }
  return { wrong, ways };
}
