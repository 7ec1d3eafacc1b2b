// Plays agents with the habits of real clients, one request at a time.
import type { Chance } from "../../demo/chance.ts";
import { contentHash } from "../../text/content-hash.ts";
import {
  isReply,
  type Said,
  type SaidCall,
  type Writing,
  type WrittenRequest,
} from "./conversation.ts";
import type { Habits } from "./habits.ts";
import { renamed, toldBy } from "./told-otherwise.ts";
import { ASK_FOR_SUMMARY, FOLLOW_UPS, LABELS, PROMPTS } from "./wordings.ts";
import { writeRequest } from "./write-request.ts";

export interface Reply {
  text: string;
  thinking: string;
  calls: readonly SaidCall[];
}

/** What an agent sends, and what it does with the reply; null: the reply broke off. */
export interface Ask {
  /** "turn": it moves the conversation on · "beside": it does not. */
  kind: "turn" | "beside";
  request: WrittenRequest;
  headers: Record<string, string>;
  /** True: a summary is wanted, in words alone. */
  wantsWords: boolean;
  /** True: it shows calls of the conversation under ids that tell them. Absent: it need not. */
  showsIds?: boolean;
  /** True: it quotes the session's replies, the newest, too. Absent: it need not. */
  quotes?: boolean;
  /** True: nothing tells it from what a person asks, but what its client does with the reply. */
  isBrief?: boolean;
  take(reply: Reply | null): void;
}

const NEWEST_CHECKED = 20;

/** Numbers that no other agent of the same world gets. */
export interface World {
  chance: Chance;
  next(): number;
  agents: Agent[];
}

export class Agent {
  /** What the conversation is, whatever its client calls it. */
  readonly label: string;
  /** What the client has of it. */
  said: Said[];
  readonly #world: World;
  readonly habits: Habits;
  readonly #session: string;
  readonly #parent: string | undefined;
  readonly #beside: Ask[] = [];
  /** What it has of replies that broke off, and what its calls gave. */
  readonly #broken: Said[] = [];
  #newest: Said | undefined;
  #head: readonly string[];
  #requests = 0;
  #forgetsThinking = false;
  #begun = false;
  #isPaused = false;
  /** Its own compaction is under way, perhaps in the background. */
  #compacts = false;
  /** What it begins with. Undefined: what many begin with. */
  #words: string | undefined;

  constructor(world: World, habits: Habits, parent?: Agent, window?: Agent) {
    this.#world = world;
    this.habits = habits;
    this.label = window?.label ?? `${habits.name}-${world.next()}`;
    const relative = window ?? parent;
    this.#session = relative === undefined ? this.label : relative.#session;
    this.#parent = parent?.label;
    this.#head =
      parent === undefined ? habits.head : [...habits.head.slice(0, -1), "You are a subagent."];
    const before = parent === undefined ? habits.before : [];
    this.said = [...(habits.examples ?? []), ...before.map((text) => this.#person(text))];
    if (window !== undefined) this.#goOnFrom(window);
    world.agents.push(this);
  }

  /** As the same conversation in another window, in which something else is said next. */
  #goOnFrom(window: Agent): void {
    this.#head = window.#head;
    this.#requests = window.#requests;
    this.#forgetsThinking = window.#forgetsThinking;
    this.#begun = true;
    this.said = [...window.said, this.#person(`Beside: number ${this.#world.next()}.`)];
  }

  /** By its upstream, of a reply's calls. */
  idOf(index: number, name: string): string {
    const { ids } = this.habits;
    if (ids === "restarting") return `call_${index}`;
    if (ids !== "counted") return `call_${contentHash(String(this.#world.next())).slice(0, 20)}`;
    const before = this.said.flatMap((one) => (one.by === "model" ? one.calls : []));
    return `functions.${name}:${before.length + index}`;
  }

  /** Undefined: it waits. */
  ask(): Ask | undefined {
    const { chance } = this.#world;
    const beside = this.#beside.shift();
    if (beside !== undefined) return beside;
    if (this.#isPaused) return undefined;
    if (!this.#begun) {
      this.#begun = true;
      this.said.push(this.#person(this.#words ?? chance.pick(PROMPTS)));
      const title = this.#titleAsk();
      if (title !== undefined) return title;
    } else if (this.said.at(-1)?.by === "model") {
      const resumes = this.#parent === undefined && chance.happens(0.2);
      if (resumes) this.#resume();
      const { hasWindows = false } = this.habits;
      if (hasWindows && this.#parent === undefined && !this.#compacts && this.#opensWindow())
        new Agent(this.#world, this.habits, undefined, this);
      // Under a system prompt that nobody knows yet, a summary alone may be anybody's.
      const isStrange = resumes && this.habits.resume === "head";
      if (!this.#compacts && !isStrange && chance.happens(0.1)) this.#goBack();
      else this.said.push(this.#person(this.#followUp()));
    }
    if (this.#requests > 3 && !this.#compacts && chance.happens(0.15)) {
      const compaction = this.#compactionAsk();
      if (compaction !== undefined) return compaction;
    }
    this.#mask();
    return this.#turnAsk();
  }

  #followUp(): string {
    const text = this.#world.chance.pick(FOLLOW_UPS);
    return this.habits.neverRepeats ? `${text} (${this.#world.next()})` : text;
  }

  #opensWindow(): boolean {
    const { agents, chance } = this.#world;
    const windows = agents.filter(({ label }) => label === this.label);
    return agents.length < 12 && windows.length < 3 && chance.happens(0.15);
  }

  #turnAsk(): Ask {
    this.#requests++;
    const hasNone = this.habits.tools.length === 0;
    const plans = hasNone || this.#isPlanning();
    const request = this.#write(this.said, plans ? { tools: [] } : {});
    return {
      kind: "turn",
      request,
      headers: this.#headers(),
      wantsWords: plans,
      take: (reply) => {
        if (reply === null) this.#askAgain(request);
        else this.#take(reply);
      },
    };
  }

  /** The person's newest request is answered without tools. */
  #isPlanning(): boolean {
    const { plans = false } = this.habits;
    const hasTools = this.said.some((one) => one.by === "model" && one.calls.length > 0);
    return (
      plans && hasTools && this.said.at(-1)?.by === "person" && this.#world.chance.happens(0.2)
    );
  }

  /** The same request once more, as clients do after an answer that broke off. */
  #again(request: WrittenRequest): Ask {
    return {
      kind: "turn",
      request,
      headers: this.#headers(),
      wantsWords: this.habits.tools.length === 0,
      take: (reply) => {
        if (reply === null) this.#askAgain(request);
        else this.#take(reply);
      },
    };
  }

  /** Some have run a call by then that had come whole. */
  #askAgain(request: WrittenRequest): void {
    const { chance, next } = this.#world;
    // Without ids of its server nothing else would tell whose call it was, where none has spoken.
    const { ids, ownIds } = this.habits;
    const isTold = ownIds === undefined && (ids !== false || this.said.some(isReply));
    if (isTold && chance.happens(0.4)) {
      const call = { id: this.idOf(0, "read"), name: "read", args: { path: `b${next()}` } };
      const text = chance.happens(0.5) ? "" : `Let me see, for the ${next()}th time,`;
      const results = [{ id: call.id, name: call.name, text: this.#output() }];
      this.#broken.push(
        { uid: this.#uid(), by: "model", text, calls: [call] },
        { uid: this.#uid(), by: "tools", results },
      );
    }
    // Some say something else instead, without what they have of it.
    const mayRestate = this.#broken.length === 0 && this.said.at(-1)?.by === "person";
    if (mayRestate && this.#restates() && chance.happens(0.25))
      this.said.push(this.#person(`Rather: number ${next()}.`));
    else this.#beside.push(this.#again(request));
  }

  /** Where the rest tells its messages apart; elsewhere the door may store them twice. */
  #restates(): boolean {
    const { ids, reminds, looksUp, hasWindows, compaction } = this.habits;
    const isMoved = reminds === true || looksUp !== undefined;
    const isPlain = ids === undefined && !isMoved && hasWindows !== true;
    return isPlain && compaction?.inBackground !== true;
  }

  #take({ text, thinking, calls }: Reply): void {
    const { chance } = this.#world;
    this.said.push(...this.#broken.splice(0));
    this.#newest = { uid: this.#uid(), by: "model", text, thinking, calls };
    this.said.push(this.#newest);
    if (calls.length === 0) {
      if (this.habits.labels && chance.happens(0.3)) this.#beside.push(this.#labelAsk());
      return;
    }
    const results = calls.map(({ id, name }) => ({ id, name, text: this.#output() }));
    this.said.push({ uid: this.#uid(), by: "tools", results });
    if (this.habits.nudges && chance.happens(0.1))
      this.said.push({ uid: this.#uid(), by: "system", text: "Mind your list of tasks." });
    if (this.#parent === undefined && this.#world.agents.length < 9 && chance.happens(0.1))
      for (let count = 0; count < 2; count++) new Agent(this.#world, this.habits, this);
    if (this.habits.checksLoops && chance.happens(0.1)) this.#beside.push(this.#loopAsk());
  }

  #compactionAsk(): Ask | undefined {
    const { compaction } = this.habits;
    // Without a call there is no id that would survive, and some clients name nothing else.
    const hasCalls = this.said.some((one) => one.by === "model" && one.calls.length > 0);
    const hasReplies = this.said.some(isReply);
    const mayCompact = hasCalls || (this.habits.tools.length === 0 && hasReplies);
    if (compaction === undefined || !mayCompact) return undefined;
    const { asks, headers = {}, inBackground = false } = compaction;
    const history = [...this.said];
    const prompt = madeUp(compaction.prompt ?? ASK_FOR_SUMMARY);
    const told = history.map((one) => ("text" in one ? one.text : "(result)")).join("\n");
    this.#compacts = true;
    this.#isPaused = !inBackground;
    return {
      kind: "beside",
      request: this.#write(
        asks === "text" ? [madeUp(`${told}\n${ASK_FOR_SUMMARY}`)] : [...history, prompt],
        asks === "history" ? {} : { tools: [] },
      ),
      headers: { ...this.#headers(), ...headers },
      wantsWords: true,
      isBrief: compaction.prompt !== undefined,
      quotes: asks === "text" && history.some(isInWords) && history.includes(this.#newest!),
      take: (reply) => {
        this.#isPaused = false;
        this.#compacts = false;
        if (reply === null) return;
        const since = this.said.slice(history.length);
        const restarted = compaction.restart(history, reply.text);
        this.said = [...restarted.map((one) => this.#named(one, reply.text)), ...since];
      },
    };
  }

  /** The summary is to be stored as if it had been said. */
  #named(said: Said, summary: string): Said {
    const isSummary = said.uid === null && "text" in said && said.text.includes(summary);
    return isSummary ? { ...said, uid: this.#uid(), isSummary } : said;
  }

  #titleAsk(): Ask | undefined {
    if (!this.habits.asksForTitle) return undefined;
    const asked = madeUp(`A title for: ${this.said.length} messages`);
    return this.#besideAsk([asked], { tools: [], model: "small", head: ["You write titles."] });
  }

  /** Somebody may hand the reply on to another conversation. */
  #labelAsk(): Ask {
    const { chance, agents } = this.#world;
    const asked = madeUp(chance.pick(LABELS));
    return {
      ...this.#besideAsk([...this.said, asked], { tools: [], head: ["You write short texts."] }),
      take: (reply) => {
        if (reply === null || agents.length >= 9) return;
        const next = new Agent(this.#world, this.habits);
        next.#words = chance.happens(0.5) ? reply.text : `Review this:\n${reply.text}`;
      },
    };
  }

  /** The newest messages out of the middle, with ids that are made of the calls' own. */
  #loopAsk(): Ask {
    const newest = this.said.slice(-NEWEST_CHECKED);
    const from = newest.findIndex(({ by }) => by === "model");
    const told = [madeUp("Recent conversation history:"), ...newest.slice(Math.max(0, from))];
    const asked = madeUp("Does this go round in circles?");
    const asks = this.#besideAsk([...told.map(renamed), asked], {
      ...{ tools: [], model: "flash", head: ["Look."] },
    });
    // Ids that count up tell nobody whose they are.
    const hasIds = this.habits.ids === undefined;
    return { ...asks, showsIds: hasIds && newest.some((one) => one.by === "tools") };
  }

  #besideAsk(said: readonly Said[], writing: Partial<Writing>): Ask {
    return {
      kind: "beside",
      request: this.#write(said, writing),
      headers: this.#headers(),
      wantsWords: true,
      take: () => {},
    };
  }

  /** An agent of its own over the copied history, in two steps. */
  #memoryAsk(): Ask {
    const writing = { tools: this.habits.tools.slice(0, 6), head: ["You extract memories."] };
    const copied = [...this.said, madeUp("Extract what is worth keeping.")];
    const ask = (said: readonly Said[], take: Ask["take"]): Ask => ({
      kind: "beside",
      request: this.#write(said, writing),
      headers: this.#headers(),
      wantsWords: false,
      take,
    });
    return ask(copied, (reply) => {
      if (reply === null || reply.calls.length === 0) return;
      const results = reply.calls.map(({ id, name }) => ({ id, name, text: "kept" }));
      const more: Said[] = [
        { uid: null, by: "model", ...reply },
        { uid: null, by: "tools", results },
      ];
      this.#beside.push(ask([...copied, ...more], () => {}));
    });
  }

  #resume(): void {
    const { resume, remembers } = this.habits;
    if (resume === "head")
      this.#head = this.#head.map((text) => text.replace(/Git: .*/, `Git: ${this.#world.next()}.`));
    if (resume === "no-thinking") this.#forgetsThinking = true;
    const [first, ...rest] = this.said;
    if (resume === "first-message" && first?.by === "person")
      this.said = [{ ...first, text: `Today is day ${this.#world.next()}.` }, ...rest];
    if (remembers) this.#beside.push(this.#memoryAsk());
  }

  /** Takes the last thing said back, and says another. */
  #goBack(): void {
    const from = this.said.findLastIndex(
      ({ by, uid, isSummary }) => by === "person" && uid !== null && !isSummary,
    );
    const left = this.said.slice(0, from);
    // Behind a compaction there is nothing left to go back to.
    if (left.some(isReply)) this.said = left;
    this.said.push(this.#person(`No: number ${this.#world.next()}.`));
  }

  #mask(): void {
    const { masksFrom } = this.habits;
    if (masksFrom === undefined || this.#requests < masksFrom || this.#requests % 3 > 0) return;
    const until = this.said.length - 4;
    this.said = this.said.map((one, index) =>
      one.by === "tools" && index < until
        ? { ...one, results: one.results.map((result) => ({ ...result, text: "[masked]" })) }
        : one,
    );
  }

  #write(said: readonly Said[], writing: Partial<Writing> = {}): WrittenRequest {
    const { api, tools, marks, reminds, ids, code, body } = this.habits;
    return writeRequest(api, toldBy(this, said, this.#world.next), {
      model: "model",
      head: this.#head,
      tools: this.#parent === undefined ? tools : tools.slice(0, -1),
      forgetsThinking: this.#forgetsThinking,
      ...(marks && { marks }),
      ...(reminds && { reminder: `Reminder: number ${this.#world.next()}.` }),
      ...(ids === false && { ids }),
      ...(code && { code }),
      ...(body && { more: body(this.label, this.#session) }),
      ...writing,
    });
  }

  #headers(): Record<string, string> {
    return this.habits.headers?.(this.label, this.#session, this.#parent) ?? {};
  }

  #person(text: string): Said {
    return { uid: this.#uid(), by: "person", text };
  }

  #uid = () => `${this.label}/${this.#world.next()}`;
  #output = () => `result ${this.#world.chance.below(3)} ${"x".repeat(200)}`;
}

/** A reply that broke off has fewer. */
const isInWords = (one: Said) => one.by === "model" && one.text.split(" ").length > 10;
const madeUp = (text: string): Said => ({ uid: null, by: "person", text });
