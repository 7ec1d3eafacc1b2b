import type { AgentMessage } from "@clew/plugin-sdk/core";
import { conversation, user } from "@clew/plugin-sdk/testing";
import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLosslessEngine } from "../engine.ts";
import { withIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { promptAddition } from "./prompt-addition.ts";

const record = { name: "r", record: "…", time: null, covered: 3, request: null, parts: new Map() };
const view = { items: [], tokens: { estimate: 0, low: 0, high: 0 }, hidden: 3 };
const params = { sessionId: "s", messages: [], availableTools: new Set(["lcm_grep"]) };

describe("what the system prompt says of recall", () => {
  it("takes at most 300 tokens, names the tools, and says how to reach hidden ones", async () => {
    const said = promptAddition({ ...view, record }, params)!;
    expect((await loadExactCounter()).count(said)).toBeLessThanOrEqual(300);
    for (const words of ["lcm_grep", "lcm_describe", "tool search", "instruction"])
      expect(said).toContain(words);
  });

  it("is the same whatever is hidden, and nothing while all is shown", () => {
    const other = { ...record, name: "other", covered: 900 };
    expect(promptAddition({ ...view, record: other }, params)).toBe(
      promptAddition({ ...view, record }, params),
    );
    expect(promptAddition({ ...view, record: null }, params)).toBeUndefined();
  });

  it("is the same in a new transcript of a session, after a reset and of what another engine kept", async () => {
    const engine = createLosslessEngine({ agentDir: temporaryFolder() });
    onTestFinished(() => engine.dispose?.());
    const session = { sessionId: "a", sessionKey: "agent:main:main" };
    const said = async (of: typeof session, messages: AgentMessage[]) => {
      const given = { ...of, messages, tokenBudget: 32_000, availableTools: params.availableTools };
      return (await engine.assemble(given)).systemPromptAddition;
    };
    const history = withIds(conversation({ turns: 3 }));
    expect(await said(session, history)).toBeUndefined();
    expect(await said(session, [...history, ...withIds([user("And now?")], "n")])).toBeUndefined();
    const told = promptAddition({ ...view, record }, params);
    expect(await said({ ...session, sessionId: "b" }, [])).toBe(told);
    expect(await said({ ...session, sessionId: "b" }, withIds([user("Good day.")], "b"))).toBe(
      told,
    );
    expect(await said(session, withIds([user("Begin again.")], "r"))).toBe(told);
    expect(await said({ sessionId: "c", sessionKey: "agent:main:c" }, history)).toBeUndefined();
  });
});
