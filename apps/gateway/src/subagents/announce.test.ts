import { expect, it } from "vitest";
import { announcementOf } from "./announce.ts";
import { type Child, ChildSchema } from "./child.ts";

const CHILD: Child = ChildSchema.parse({
  ...{ v: 1, key: "agent:main:subagent:1", agentId: "main", label: null, task: "look" },
  parent: { key: "agent:main:main", agentId: "main", sessionId: "s" },
  ...{ contextMode: "isolated", lightContext: false, model: null, engine: null, depth: 1 },
  ...{ cleanup: "keep", boundMs: 1000, maxModelCalls: 1, startedAt: 0, state: "ended" },
  end: { outcome: "completed", reason: null, notice: "completed", at: 1 },
  ...{ preparedBy: null, reply: "done", isAnnounced: false },
});

it("an announcement says who started the session, the model or a plugin", () => {
  expect(announcementOf([CHILD])).toContain(":1, which you started for: look");
  const plugin = { id: "cook", runId: "r" };
  expect(announcementOf([{ ...CHILD, plugin }])).toContain(', which plugin "cook" started for:');
});
