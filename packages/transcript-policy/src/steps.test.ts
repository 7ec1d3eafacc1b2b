import type { AgentMessage } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histories } from "./__fixtures__/histories.ts";
import { assistant, call, result, text, user } from "./__fixtures__/messages.ts";
import { DISTINCT_ROUTES, nameOf } from "./__fixtures__/routes.ts";
import { outboundSteps, type PassFlags, pairSteps, replaySteps } from "./apply.ts";
import { prepareOutboundMessages } from "./outbound.ts";
import type { PassResult } from "./pass.ts";
import { readerOf } from "./readers.ts";
import type { Route } from "./route.ts";
import { deriveFlags, resolveTranscriptPolicy } from "./select.ts";
import { type Step, StepRunner } from "./steps.ts";
import { asStored } from "./stored.ts";
import { traitsOf } from "./traits.ts";
import { wireRules } from "./wires.ts";

const clock = { now: () => 1000 };
const flagsOf = (route: Route): PassFlags => {
  const policy = resolveTranscriptPolicy(route);
  return { policy, derived: deriveFlags(policy, route), clock };
};
const stepsOf = (route: Route) => {
  const { content, history, turns } = replaySteps(flagsOf(route));
  return {
    replay: [...content, ...history, ...turns],
    outbound: outboundSteps(flagsOf(route), wireRules(route), readerOf(route)),
  };
};

/** Every step in every round, whatever it has to do. */
function settlePlainly(messages: readonly AgentMessage[], steps: readonly Step[]): PassResult {
  let current = messages;
  const changes: PassResult["changes"][number][] = [];
  for (let round = 0; round < 8; round++) {
    const before = current;
    for (const { run } of steps) {
      const result = run(current);
      current = result.messages;
      changes.push(...result.changes);
    }
    if (current === before) break;
  }
  return { messages: current, changes };
}

describe.each(DISTINCT_ROUTES.map((route) => [nameOf(route), route] as const))(
  "the passes for %s",
  (_name, route) => {
    const { replay, outbound } = stepsOf(route);

    it("leave alone what they say they need not see", () => {
      fc.assert(
        fc.property(histories, (messages) => {
          const traits = traitsOf(asStored(messages));
          for (const { run, applies } of [...replay, ...outbound])
            if (!applies(traits)) expect(run(messages).messages).toBe(messages);
        }),
      );
    });

    it("take a block that is nothing at all from another model", () => {
      const other = { role: "assistant", content: [null], model: "x", stopReason: "stop" };
      const messages = [user("q"), other as never, user("r")];
      for (const { run } of [...replay, ...outbound]) expect(() => run(messages)).not.toThrow();
    });

    it("come to the same as if each ran every time", () => {
      fc.assert(
        fc.property(histories, fc.boolean(), (messages, isOutbound) => {
          const steps = isOutbound ? outbound : replay;
          expect(new StepRunner().settle(messages, steps)).toEqual(settlePlainly(messages, steps));
        }),
      );
    });

    it.each([
      ["words", [user("q"), assistant([text("a")]), user("r"), assistant([text("b")])]],
      ["a tool", [user("q"), assistant([call("call1")]), result("call1"), assistant([text("b")])]],
    ])("run at most 20 times in a turn over a clean history of %s", (_what, messages) => {
      let runs = 0;
      const counted = (steps: readonly Step[]): Step[] => {
        const same = new Map<Step, Step>();
        return steps.map((step) => {
          const run: Step["run"] = (list) => {
            runs++;
            return step.run(list);
          };
          const known = same.get(step) ?? { ...step, run };
          same.set(step, known);
          return known;
        });
      };
      const [clean, prompted] = [messages, [...messages, user("s")]].map(
        (list) => prepareOutboundMessages({ ...route, messages: list, clock }).messages,
      );
      runs += 1; // the pass over images
      new StepRunner().settle(clean!, counted(replay));
      // The host pairs after a limit, after the engine, and before the call.
      for (let time = 0; time < 3; time++)
        new StepRunner().run(clean!, counted(pairSteps(flagsOf(route))));
      new StepRunner().settle(prompted!, counted(outbound));
      const hint = "a pass ran with nothing to do: give definePass its last argument, `applies`";
      expect(runs, hint).toBeLessThanOrEqual(20);
    });
  },
);
