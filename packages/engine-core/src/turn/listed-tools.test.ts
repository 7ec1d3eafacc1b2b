import { describe, expect, it } from "vitest";
import { callTool, testHost, tools } from "../__fixtures__/host.ts";
import type { ToolPort } from "../ports.ts";

/** A port whose list is what `offered` says. */
function changing(offered: () => string[], run: (name: string) => string): ToolPort {
  const all = () =>
    tools(Object.fromEntries(offered().map((name) => [name, () => run(name)] as const)));
  return {
    list: (session) => all().list(session),
    run: async ({ call }) => ({
      content: [{ type: "text", text: run(call.name) }],
      isError: false,
    }),
  };
}

describe("the tools of a request", () => {
  it("are those that are listed when it is put together, also in the middle of a turn", async () => {
    let names = ["look"];
    const host = testHost({
      replies: [callTool("look"), callTool("peek"), "done"],
      tools: changing(
        () => names,
        (name) => {
          names = name === "look" ? ["peek", "think"] : ["peek"];
          return "seen";
        },
      ),
    });
    const { report } = await host.say("go");
    const offered = report.modelCalls.map(({ tools }) =>
      tools.map(({ source }) => (source.kind === "tool-schema" ? source.name : "")),
    );
    expect(offered).toEqual([["look"], ["peek", "think"], ["peek"]]);
    expect(report.modelCalls[1]!.cache?.broke?.code).not.toBeUndefined();
  });

  it("are brought up to date before each request", async () => {
    let refreshed = 0;
    let names = ["look"];
    const host = testHost({
      replies: [callTool("look"), "done"],
      tools: {
        ...changing(
          () => names,
          () => "seen",
        ),
        async refresh() {
          refreshed++;
          if (refreshed === 2) names = ["other"];
        },
      },
    });
    const { report } = await host.say("go");
    expect(refreshed).toBeGreaterThanOrEqual(2);
    expect(report.modelCalls[1]!.tools.map(({ source }) => source)).toEqual([
      { kind: "tool-schema", name: "other" },
    ]);
  });

  it("stay as they were where they cannot be listed any more", async () => {
    let lists = 0;
    const base = tools({ look: () => "seen" });
    const host = testHost({
      replies: [callTool("look"), "done"],
      tools: {
        ...base,
        list(session) {
          lists++;
          if (lists > 2) throw new Error("no list today");
          return base.list(session);
        },
      },
    });
    const { outcome, report } = await host.say("go");
    expect(outcome).toBe("completed");
    expect(report.modelCalls[1]!.tools).toHaveLength(1);
  });
});
