// What the host keeps of answers that are not what they seem.
import { describe, expect, it } from "vitest";
import { collectLog } from "../../testing/plugins.ts";
import { createHookRunner, type OwnedHook } from "./hook-runs.ts";
import { readAnswer } from "./read-answer.ts";

describe("what a plugin answers", () => {
  it("is read once, getters and lists included, and is the host's own from there on", () => {
    let reads = 0;
    class Answer {
      get text() {
        return `read ${++reads}`;
      }
    }
    const given = { list: [{ a: 1 }], answer: new Answer(), at: new Date(0), self: {} as object };
    given.self = given;
    const kept = readAnswer(given) as typeof given;
    expect([kept.answer.text, kept.answer.text, reads]).toEqual(["read 1", "read 1", 1]);
    given.list[0]!.a = 2;
    expect(kept).toMatchObject({ list: [{ a: 1 }], at: new Date(0) });
    expect(kept.self).toBe(kept);
    const named = readAnswer(JSON.parse('{"__proto__":{"a":1}}')) as object;
    expect(Object.getPrototypeOf(named)).toBe(Object.prototype);
  });

  const trap = () => {
    throw new Error("trap");
  };
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const deaf = new Error("x");
  Object.defineProperty(deaf, "message", { get: trap });

  it.each<[string, () => unknown, string]>([
    [
      "a getter",
      () => Object.defineProperty({}, "prependContext", { get: trap, enumerable: true }),
      "trap",
    ],
    [
      "a getter in a list",
      () => ({
        toolsAllow: [
          {
            get name() {
              return trap();
            },
          },
        ],
      }),
      "trap",
    ],
    ["a proxy", () => new Proxy({}, { get: trap, ownKeys: trap, getPrototypeOf: trap }), "trap"],
    ["a proxy that is no more", () => revoked, "revoked"],
    [
      "an error that cannot be read",
      () => {
        throw deaf;
      },
      "an error that cannot be described",
    ],
  ])("is the plugin's failure and nobody's turn when it is %s", async (_, answer, why) => {
    const log = collectLog();
    const hook = (pluginId: string, name: string, handler: () => unknown): OwnedHook => ({
      ...{ name, pluginId, priority: 0, handler: handler as never },
    });
    const hooks = createHookRunner({
      ...{ log, runAs: (_pluginId, work) => work() },
      hooks: () => [
        hook("bad", "before_prompt_build", answer),
        hook("good", "before_prompt_build", () => ({ prependContext: "kept" })),
        hook("bad", "before_message_write", answer),
      ],
    });
    expect(await hooks.additions({}, {}, { limitBytes: 100 })).toEqual({ prependContext: "kept" });
    const outcomes: object[] = [];
    const request = { event: () => ({}), context: {} };
    hooks.askNow("before_message_write", request, (outcome) => void outcomes.push(outcome));
    await hooks.ask("before_message_write", request, (outcome) => outcomes.push(outcome) > 2);
    const failed = { pluginId: "bad", ok: false, reason: expect.stringContaining(why) };
    expect(outcomes).toEqual([failed, failed]);
    expect(log.lines.filter((line) => line.includes("[plugins] bad: hook "))).toHaveLength(3);
  });
});
