// Holds the time of a request against the number of its messages.
import { stepsAtOnce } from "@clew/plugin-sdk/host";
import { expect, it } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { outlineOf } from "../body/outline.ts";
import { clientKeyOf } from "../match/client-key.ts";
import { KnownRequests } from "../match/known-requests.ts";
import { planIngest, requestEvent } from "../match/plan-ingest.ts";
import { planMatch } from "../match/plan-match.ts";
import { sketchRequest } from "../match/sketch.ts";
import { planEntries } from "../record/plan-entries.ts";
import type { Said } from "../testing/conversation.ts";
import { writeRequest } from "../testing/write-request.ts";
import { viewSteps } from "../view/make-view.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";

type Talk = (index: number) => Said[];

const said = (text: string, calls: string[] = []): Said => ({
  ...{ uid: null, by: "model", text, thinking: "" },
  calls: calls.map((id) => ({ id, name: "run", args: {} })),
});
const TALKS: Record<string, Talk> = {
  words: (index) => [{ uid: null, by: "person", text: `m${index}` }, said(`r${index}`)],
  "the same words": () => [{ uid: null, by: "person", text: "go on" }, said("Done.")],
  calls: (index) => [
    said("", [`c${index}`]),
    { uid: null, by: "tools", results: [{ id: `c${index}`, name: "run", text: `ok ${index}` }] },
  ],
  "what the model says without a break": (index) => [said(`r${index}`)],
};

/** The work of a request, phase by phase, each with the processor's ms that it took. */
function timesOf(api: (typeof DOOR_APIS)[number], talk: Talk, rounds: number): Map<string, number> {
  const wire = DOOR_WIRES[api];
  const all: Said[] = [{ uid: null, by: "person", text: "Begin." }];
  for (let index = 0; index < rounds; index++) all.push(...talk(index));
  const { path, body } = writeRequest(api, all, { model: "model", head: ["Be."], tools: ["run"] });
  const request = wire.read(body, path)!;
  const times = new Map<string, number>();
  const timed = <Result>(name: string, work: () => Result): Result => {
    const before = process.cpuUsage();
    const result = work();
    times.set(name, process.cpuUsage(before).user / 1000);
    return result;
  };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const outline = timed("outline", () => outlineOf(bytes, wire.list));
  const sketch = timed("sketch", () => sketchRequest(wire, request, clientKeyOf({}, body)));
  const known = new KnownRequests();
  const { match, plan } = timed("match", () => {
    const found = planMatch(known, sketch);
    return { match: found, plan: planIngest(known, found, sketch) };
  });
  timed("learn", () => known.learn(requestEvent(known, "s", { match, plan, request: sketch })));
  timed("view", () =>
    stepsAtOnce(
      viewSteps({
        ...{ wire, outline, body, request, messages: sketch.messages },
        ...{ window: 2_000, marks: {}, bindsThinking: false },
      }),
    ),
  );
  const list = request.messages.slice(request.leading);
  timed("entries", () =>
    stepsAtOnce(
      planEntries({
        ...{ api, list, sketched: sketch.messages, fresh: plan.fresh },
        ...{ toolNames: new Map(), now: 0 },
      }),
    ),
  );
  return times;
}

const TRIES = 2;
const FEW = 700;
const TIMES = 16;
/** Of 16 times the messages; where each looks at all others it would be 256. */
const MOST_GROWTH = 64;
/** What is said of shorter times is said by the collector and the clock. */
const LEAST_MS = 5;

it.each(DOOR_APIS.flatMap((api) => Object.keys(TALKS).map((name) => [api, name] as const)))(
  "a request by %s takes as much longer as it has more messages: %s",
  (api, name) => {
    const least = (rounds: number) => {
      const tries = Array.from({ length: TRIES }, () => timesOf(api, TALKS[name]!, rounds));
      return new Map(
        [...tries[0]!.keys()].map((phase) => [
          phase,
          Math.min(...tries.map((times) => times.get(phase)!)),
        ]),
      );
    };
    const few = least(FEW);
    const many = least(FEW * TIMES);
    const growing = [...many].filter(
      ([phase, ms]) => ms > MOST_GROWTH * Math.max(LEAST_MS, few.get(phase)!),
    );
    expect(growing).toEqual([]);
  },
);

it("the view of many messages is chosen in a step for each that it leaves out", () => {
  const wire = DOOR_WIRES["openai-completions"];
  const all: Said[] = [{ uid: null, by: "person", text: "Begin." }];
  for (let index = 0; index < FEW; index++) all.push(...TALKS.words!(index));
  const { path, body } = writeRequest("openai-completions", all, {
    ...{ model: "model", head: ["Be."], tools: ["run"] },
  });
  const request = wire.read(body, path)!;
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const { messages } = sketchRequest(wire, request, clientKeyOf({}, body));
  const steps = viewSteps({
    ...{ wire, outline: outlineOf(bytes, wire.list), body, request, messages },
    ...{ window: 2_000, marks: {}, bindsThinking: false },
  });
  let taken = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) taken++;
  const { leftOut } = step.value.plan;
  expect(leftOut.size).toBeGreaterThan(FEW);
  expect(taken).toBeGreaterThan(leftOut.size);
});
