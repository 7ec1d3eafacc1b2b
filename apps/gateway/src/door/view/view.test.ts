// Sends long histories of every client through views and holds them against the rules.
import { stepsAtOnce } from "@clew/plugin-sdk/host";
import { checkRequest } from "@clew/providers/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createChance } from "../../demo/chance.ts";
import { outlineOf } from "../body/outline.ts";
import { clientKeyOf } from "../match/client-key.ts";
import { sketchRequest } from "../match/sketch.ts";
import type { Said } from "../testing/conversation.ts";
import { HABITS, type Habits } from "../testing/habits.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { JsonObject } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { type MadeView, type ViewRequest, viewSteps } from "./make-view.ts";
import { markersIn } from "./markers.ts";
import type { ViewMarks } from "./plan-view.ts";

interface Sent extends MadeView {
  text: string;
  /** As it came, and as it went upstream. */
  client: string;
  path: string;
  body: JsonObject;
  /** What the matcher would recognise of the messages that went upstream. */
  upstream: (string | null)[];
}

interface Situation {
  habits: Habits;
  window: number;
  maxTokens?: number;
  more?: Record<string, unknown>;
  bindsThinking?: boolean;
}

/** A door's view of one session: it remembers the marks. */
class ViewedSession {
  readonly #situation: Situation;
  #marks: ViewMarks = {};

  constructor(situation: Situation) {
    this.#situation = situation;
  }

  send(said: readonly Said[], tools?: readonly unknown[]): Sent {
    const { habits, window, maxTokens, more, bindsThinking = false } = this.#situation;
    const { api, head, marks, ids, code } = habits;
    const wire = DOOR_WIRES[api];
    const { path, body } = writeRequest(api, said, {
      model: api === "anthropic-messages" ? "claude-sonnet-5" : "model",
      head,
      tools: habits.tools,
      ...(marks && { marks }),
      ...(ids === false && { ids }),
      ...(code && { code }),
      ...(maxTokens && { maxTokens }),
      ...(more && { more }),
    });
    const client = JSON.stringify(body);
    const request = wire.read(body, path)!;
    const { messages } = sketchRequest(wire, request, clientKeyOf({}, body));
    const input: ViewRequest = {
      wire,
      outline: outlineOf(new TextEncoder().encode(client), wire.list),
      body,
      request,
      messages,
      window,
      marks: this.#marks,
      bindsThinking,
      tools,
    };
    const view = stepsAtOnce(viewSteps(input));
    this.#marks = JSON.parse(JSON.stringify(view.plan.marks)) as ViewMarks;
    const text = new TextDecoder().decode(view.bytes);
    const sent = JSON.parse(text) as Record<string, unknown>;
    const upstream = (sent[wire.list] as JsonObject[]).map((one) => wire.look(one).identity);
    return { ...view, text, client, path, body: sent, upstream };
  }
}

const before = ({ before: texts }: Habits): Said[] =>
  texts.map((text) => ({ uid: null, by: "person", text }));
const person = (text: string): Said => ({ uid: null, by: "person", text });
let ids = 0;
function round(chars: number, calls = 1, text = ""): Said[] {
  const made = Array.from({ length: calls }, () => ({ id: `call_${++ids}`, name: "read" }));
  return [
    {
      uid: null,
      by: "model",
      text,
      thinking: "hm",
      calls: made.map((call) => ({ ...call, args: { path: call.id } })),
    },
    {
      uid: null,
      by: "tools",
      results: made.map((call) => ({ ...call, text: "x".repeat(chars) })),
    },
  ];
}

/** One case is many requests. */
const FEWER = { numRuns: fc.readConfigureGlobal().numRuns! / 4 };

const isPrefix = (a: readonly unknown[], b: readonly unknown[]) =>
  a.every((item, index) => item === b[index]);

const refused = (habits: Habits, { path, body }: Sent) =>
  checkRequest({ api: habits.api, path, body })
    .filter(({ level }) => level === "reject")
    .map(({ rule, text }) => `${rule}: ${text}`);

describe.each(HABITS)("views of $name", (habits) => {
  const situation = { habits, window: 32_000 };

  it("leave 46 of 50 prefixes as they were, and need no overflow", () => {
    const session = new ViewedSession(situation);
    const said = [...before(habits), person("Read all of it.")];
    let kept = 0;
    let last: Sent | undefined;
    for (let call = 0; call <= 50; call++) {
      const sent = session.send(said);
      expect(sent.overflow).toBeUndefined();
      expect(refused(habits, sent)).toEqual([]);
      expect(sent.plan.tokens).toBeLessThanOrEqual(0.92 * 32_000);
      if (last !== undefined && isPrefix(last.upstream, sent.upstream)) kept++;
      last = sent;
      said.push(...round(4_000));
    }
    expect(kept).toBeGreaterThanOrEqual(46);
  });

  it("keep what is asked now when its client says more behind it, in a person's name", () => {
    const session = new ViewedSession({ habits, window: 12_000 });
    const aside = (text: string) => person(`<system-reminder>${text}</system-reminder>`);
    const said = [...before(habits), person("The first request."), aside("At first.")];
    for (let call = 0; call < 12; call++) said.push(...round(4_000));
    session.send(said);
    said.push({ uid: null, by: "model", text: "All of it is done.", calls: [] });
    said.push(person("The second request."), aside("Behind it."));
    for (let call = 0; call < 60; call++) {
      const { text, overflow } = session.send(said);
      expect(overflow).toBeUndefined();
      for (const words of ["The first request.", "At first.", "The second request.", "Behind it."])
        expect(text, `call ${call}`).toContain(words);
      if (call > 3) expect(text).toContain("While it is worked on.");
      said.push(...round(4_000));
      if (call === 3) said.push(aside("While it is worked on."));
    }
  });

  it("leave out what is said while they work only where nothing else helps, and stay so", () => {
    const session = new ViewedSession({ habits, window: 12_000 });
    const said = [...before(habits), person("The first request."), ...round(400)];
    said.push({ uid: null, by: "model", text: "Done.", calls: [] }, person("Look at it all."));
    let kept = 0;
    let last: Sent | undefined;
    for (let call = 0; call < 30; call++) {
      const sent = session.send(said);
      expect(sent.overflow).toBeUndefined();
      expect(refused(habits, sent)).toEqual([]);
      expect(sent.text).toContain("Look at it all.");
      if (last !== undefined && isPrefix(last.upstream, sent.upstream)) kept++;
      last = sent;
      said.push(...round(400), person(`${call}: ${"picture ".repeat(500)}`));
    }
    expect(kept).toBeGreaterThanOrEqual(14);
    const answered = { uid: null, by: "model", text: "Seen.", calls: [] } as const;
    const next = session.send([...said.slice(0, -3), answered, person("And now?")]);
    expect(next.text).toContain("And now?");
    expect(next.plan.moved || isPrefix(last!.upstream, next.upstream)).toBe(true);
  });

  it.each([{ calling: [0] }, { calling: [3] }, { calling: [0, 3] }, { calling: [] as number[] }])(
    "answer talk that goes on for long behind the newest call: $calling",
    ({ calling }: { calling: readonly number[] }) => {
      const session = new ViewedSession({ habits, window: 20_000 });
      const said = [...before(habits), person("The first request.")];
      let kept = 0;
      let last: Sent | undefined;
      for (let turn = 0; turn < 30; turn++) {
        if (calling.includes(turn)) said.push(...round(6_000));
        const sent = session.send(said);
        expect(sent.overflow).toBeUndefined();
        expect(refused(habits, sent)).toEqual([]);
        for (const words of ["The first request.", `Request ${turn - 1}.`])
          if (turn > 0) expect(sent.text).toContain(words);
        if (last !== undefined && isPrefix(last.upstream, sent.upstream)) kept++;
        last = sent;
        const told = `Told ${turn}. ${"word ".repeat(900)}`;
        said.push({ uid: null, by: "model", text: told, calls: [] }, person(`Request ${turn}.`));
      }
      expect(kept).toBeGreaterThanOrEqual(20);
    },
  );

  it("are the client's bytes while they are below high water", () => {
    const session = new ViewedSession(situation);
    const said = [...before(habits), person("Read it."), ...round(4_000), ...round(400, 2)];
    const sent = session.send(said);
    expect(sent.text).toBe(sent.client);
    expect(sent.plan).toMatchObject({ moved: false, setAside: 0, marks: {} });
  });

  it("lower the limit of the reply to what is left, and nothing else", () => {
    const session = new ViewedSession({ ...situation, maxTokens: 64_000 });
    const sent = session.send([person("Read it."), ...round(8_000)]);
    expect(sent.clamped?.from).toBe(64_000);
    expect(sent.clamped?.to).toBeLessThan(32_000 - sent.plan.tokens);
    expect(sent.text).toBe(sent.client.replace("64000", String(sent.clamped?.to)));
  });

  it("keep every rule of the wire, what the person asks and the newest pair, however small", () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 4_000, max: 40_000 }), (dice, window) => {
        const chance = createChance(dice);
        const session = new ViewedSession({ habits, window });
        const said = [...before(habits), person("The first request.")];
        for (let step = 0; step < 12; step++) {
          const sent = session.send(said);
          if (sent.overflow === undefined) {
            expect(refused(habits, sent)).toEqual([]);
            expect(sent.plan.tokens).toBeLessThan(window);
            expect(markersIn(sent.body).length).toBeLessThanOrEqual(4);
          } else expect(sent.text).toBe(sent.client);
          expect(sent.text).toContain("The first request.");
          const asked = said.findLast(({ by }) => by === "person");
          if (asked?.by === "person") expect(sent.text).toContain(asked.text);
          const newest = said.at(-1);
          if (newest?.by === "tools")
            for (const { text } of newest.results) expect(sent.text).toContain(text);
          if (chance.happens(0.2))
            for (let turn = 0; turn < 10; turn++)
              said.push(
                {
                  uid: null,
                  by: "model",
                  text: `Told. ${"word ".repeat(chance.below(900))}`,
                  calls: [],
                },
                person(`Talk ${step}.${turn}.`),
              );
          for (let count = chance.below(4); count > 0; count--) {
            const size = chance.pick([10, 299, 301, 2_000, 9_000]);
            said.push(...round(size, 1 + chance.below(3), chance.pick(["", "I look."])));
          }
          if (chance.happens(0.4))
            said.push(
              { uid: null, by: "model", text: `Done ${step}.`, calls: [] },
              person(`Request ${step}.`),
            );
        }
      }),
      FEWER,
    );
  });
});

describe("a view", () => {
  const [claude] = HABITS as [Habits];
  const long = (rounds: number) => [
    person("Read it."),
    ...Array.from({ length: rounds }, () => round(4_000)).flat(),
  ];

  it("elides from the oldest on, down to low water, and stays there", () => {
    const session = new ViewedSession({ habits: claude, window: 16_000 });
    const said = long(15);
    const first = session.send(said);
    expect(first.plan).toMatchObject({ moved: true, fits: true });
    expect(first.plan.tokens).toBeLessThanOrEqual(0.7 * 16_000);
    expect(first.plan.leftOut.size).toBe(0);
    expect(first.text).toMatch(/Set aside to make room.*x{4000}/);
    const second = session.send([...said, ...round(400)]);
    expect(second.plan).toMatchObject({ moved: false, elidedBefore: first.plan.elidedBefore });
  });

  it("leaves of each result what stands out in it, and less of the oldest only when it must", () => {
    const fact = "The spare key is heron-48213.";
    const said = long(15);
    const [, , second] = said.filter(({ by }) => by === "tools");
    if (second?.by !== "tools") throw new Error("there is no second result");
    const results = second.results.map((one) => ({
      ...one,
      text: `${"A line of it.\n".repeat(150)}${fact}\n${"A line of it.\n".repeat(150)}`,
    }));
    said[said.indexOf(second)] = { ...second, results };
    const roomy = new ViewedSession({ habits: claude, window: 16_000 }).send(said);
    expect(roomy.plan).toMatchObject({ linesBefore: 0, leftOut: new Set() });
    expect(roomy.text).toContain(fact);
    const tight = new ViewedSession({ habits: claude, window: 4_000 });
    const sent = tight.send(said);
    expect(sent.plan.leftOut.size).toBeGreaterThan(0);
    expect(sent.text).toContain(fact);
    const next = tight.send([...said, ...round(40)]);
    expect(next.plan).toMatchObject({ moved: false, leftOut: sent.plan.leftOut });
  });

  it("keeps a line of each result beside a large fixed part, and stays as it is for long", () => {
    const kimi = HABITS.find(({ name }) => name === "kimi")!;
    const head = [`You are an agent. ${"Mind this. ".repeat(7_400)}`];
    const session = new ViewedSession({ habits: { ...kimi, head }, window: 32_000 });
    const said = [...before(kimi), person("Read all of it.")];
    let kept = 0;
    let last: Sent | undefined;
    for (let call = 0; call <= 45; call++) {
      last = session.send(said);
      expect(last.overflow).toBeUndefined();
      if (!last.plan.moved) kept++;
      const filler = "A line of it.\n".repeat(140);
      const [asking, result] = round(0) as [Said, Extract<Said, { by: "tools" }>];
      const [one] = result.results;
      const text = `${filler}service-${call + 10}.port = ${7_000 + call}\n${filler}`;
      said.push(asking, { ...result, results: [{ ...one!, text }] });
    }
    expect(kept).toBeGreaterThanOrEqual(40);
    for (let call = 0; call < 15; call++)
      expect(last!.text).toContain(`service-${call + 10}.port = ${7_000 + call}`);
  });

  it("begins anew when its client has shortened the history by itself", () => {
    const session = new ViewedSession({ habits: claude, window: 16_000 });
    session.send(long(15));
    const { plan, text, client } = session.send([person("A summary."), ...round(4_000)]);
    expect(plan).toMatchObject({ elidedBefore: 0, moved: false, setAside: 0 });
    expect(text).toBe(client);
  });

  it("leaves pairs out when eliding is not enough, and says how many", () => {
    const session = new ViewedSession({ habits: claude, window: 8_000 });
    const said = [person("Read it."), ...Array.from({ length: 60 }, () => round(290, 2)).flat()];
    const { plan, text } = session.send(said);
    expect(plan.fits).toBe(true);
    expect(plan.leftOut.size).toBeGreaterThan(10);
    expect(text).toContain(`[${plan.leftOut.size} earlier messages stood behind this one`);
  });

  it("quotes of what it left out the lines that stand out, the same ones until it moves", () => {
    const fact = "The spare key is heron-48213.";
    const early = round(290, 2);
    const [reply] = early;
    if (reply?.by !== "model") throw new Error("a round begins with a reply");
    early[0] = { ...reply, text: fact };
    const rounds = Array.from({ length: 60 }, () => round(290, 2)).flat();
    const session = new ViewedSession({ habits: claude, window: 8_000 });
    const said = [person("Read it."), ...early, ...rounds];
    const first = session.send(said);
    expect(first.plan.leftOut.size).toBeGreaterThan(10);
    // A result must not be able to speak in the place of the person whose message it stands in.
    expect(first.text).toContain(`\\n> ${fact}`);
    expect(first.plan.tokens).toBeLessThanOrEqual(8_000);
    const second = session.send([...said, ...round(40)]);
    expect(second.plan.moved).toBe(false);
    const note = /\[\d+ earlier messages stood.*?"/;
    expect(note.exec(second.text)?.[0]).toBe(note.exec(first.text)?.[0]);
  });

  it("quotes arguments of calls that it left out, and no more than its note has room for", () => {
    const rounds = Array.from({ length: 60 }, (_, at) => {
      const [reply, results] = round(290, 1, `第${at}步：${"检查配置文件".repeat(20)}`) as [
        Said,
        Said,
      ];
      if (reply.by !== "model") throw new Error("a round begins with a reply");
      const args = at === 3 ? { key: "heron-48213" } : { path: "notes" };
      return [{ ...reply, calls: reply.calls.map((call) => ({ ...call, args })) }, results];
    }).flat();
    const session = new ViewedSession({ habits: claude, window: 8_000 });
    const { plan, text } = session.send([person("Read it."), ...rounds]);
    expect(plan.leftOut.size).toBeGreaterThan(10);
    expect(text).toMatch(/\\n> [^>]*heron-48213/);
    expect(Buffer.byteLength(text) / 4).toBeLessThanOrEqual(1.02 * plan.tokens);
  });

  it("overflows only when the newest pair alone is too large", () => {
    const session = new ViewedSession({ habits: claude, window: 8_000 });
    const { overflow, text, client } = session.send([...long(3), ...round(40_000)]);
    expect(overflow?.tokens).toBeGreaterThan(8_000);
    expect(overflow?.fixedTokens).toBeLessThan(8_000);
    expect(text).toBe(client);
  });

  it("fits as long as it has room for the reply that its client asks for", () => {
    const said = [person("word ".repeat(15_600))];
    const send = (maxTokens: number) =>
      new ViewedSession({ habits: claude, window: 20_000, maxTokens }).send(said);
    const small = send(100);
    expect(small.plan.tokens).toBeGreaterThan(20_000 - 1_024);
    expect(small.text).toBe(small.client);
    expect(small.overflow).toBeUndefined();
    const large = send(1_000).overflow!;
    expect(large.tokens).toBeLessThan(20_000);
    expect(large.tokens + large.reply!).toBeGreaterThan(20_000);
  });

  it.each([1, 60_000])("is not cut earlier for what may be looked up: fixed %s", (chars) => {
    const habits = { ...claude, head: [`You are an agent.${"x".repeat(chars)}`] };
    const session = new ViewedSession({ habits, window: 32_000 });
    const said = [person("Read it.")];
    let most = 0;
    for (let call = 0; call < 70; call++) {
      const { plan, recallRoom, clamped, body } = session.send(said, [{ name: "session_search" }]);
      expect(recallRoom).toBeGreaterThanOrEqual((32_000 - chars / 4) / 18);
      expect(recallRoom).toBeLessThanOrEqual((32_000 - chars / 4) / 8);
      const limit = clamped?.to ?? Number(body.max_tokens);
      expect(plan.tokens + recallRoom! + limit).toBeLessThanOrEqual(32_000);
      most = Math.max(most, plan.tokens);
      said.push(...round(2_000));
    }
    expect(most).toBeGreaterThan(0.87 * 32_000);
  });

  it("leaves thinking away that is bound to what has changed, and keeps what came since", () => {
    const session = new ViewedSession({ habits: claude, window: 16_000, bindsThinking: true });
    const said = long(15);
    expect(session.send(said).text).not.toContain('"thinking"');
    const later = session.send([...said, ...round(400)]);
    expect(later.text.split('"type":"thinking"')).toHaveLength(2);
    expect(later.plan.moved).toBe(false);
  });

  it("marks the end of the cut where the client has left a marker to spare", () => {
    const session = new ViewedSession({ habits: claude, window: 16_000 });
    const { body } = session.send(long(15));
    expect(markersIn(body)).toHaveLength(3);
    expect(JSON.stringify(body.messages)).toMatch(
      /Set aside[\s\S]*cache_control[\s\S]*cache_control/,
    );
  });

  it("keeps a budget of thinking below a lowered limit", () => {
    const thinking = { type: "enabled", budget_tokens: 31_999 };
    const session = new ViewedSession({
      habits: claude,
      window: 32_000,
      maxTokens: 32_000,
      more: { thinking },
    });
    const { body, clamped } = session.send(long(5));
    const { budget_tokens: budget } = body.thinking as { budget_tokens: number };
    expect(budget).toBeGreaterThanOrEqual(1_024);
    expect(budget).toBeLessThan(clamped!.to);
    expect(body.max_tokens).toBe(clamped!.to);
  });
});
