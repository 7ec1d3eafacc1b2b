import type { AgentMessage } from "@clew/plugin-sdk/core";
import { stepsAtOnce } from "@clew/plugin-sdk/host";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { SUMMARY_HEADINGS } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { amendSummary, auditSummary, identifierSteps, keywordsOf } from "./audit.ts";

const good = SUMMARY_HEADINGS.map((heading) => `${heading}\n- (none)`).join("\n\n");
const audit = (text: string, extras: { identifiers?: string[]; latestAsk?: string } = {}) =>
  auditSummary({ text, identifiers: extras.identifiers ?? [], latestAsk: extras.latestAsk });

const identifiersToKeep = (messages: readonly AgentMessage[]) =>
  stepsAtOnce(identifierSteps(messages));

describe("the check of a summary", () => {
  it("passes the required headings in order, with others between them", () => {
    expect(audit(good)).toEqual([]);
    expect(audit(`## Goal\nx\n\n${good}\n\n## Critical context\ny`)).toEqual([]);
  });

  it.each(SUMMARY_HEADINGS)("misses %s", (heading) => {
    expect(audit(good.replace(heading, "## Other"))).toContainEqual({
      kind: "heading",
      heading,
      found: "missing",
    });
    expect(audit(`${good}\n${heading}`)).toContainEqual({
      kind: "heading",
      heading,
      found: "twice",
    });
  });

  it("notices headings in the wrong order", () => {
    const swapped = [...SUMMARY_HEADINGS].reverse().join("\n");
    expect(audit(swapped)).toContainEqual({
      kind: "heading",
      heading: "## Open TODOs",
      found: "out of order",
    });
  });

  it("wants identifiers exactly, hexadecimal ones in any case", () => {
    const identifiers = ["src/Main.ts", "DEADBEEF42"];
    expect(audit(`${good}\nsrc/Main.ts deadbeef42`, { identifiers })).toEqual([]);
    expect(audit(`${good}\nsrc/main.ts`, { identifiers })).toEqual([
      { kind: "identifiers", missing: identifiers },
    ]);
  });

  it.each([
    ["migrate the billing tables tonight", "billing tables", true],
    ["migrate the billing tables tonight", "only billing", false],
    ["billing?", "about billing", true],
    ["请把数据库迁移到新服务器", "数据库要迁移", true],
    ["请把数据库迁移到新服务器", "别的事情", false],
    ["ok", "anything", true],
  ])("the ask %j is reflected by %j: %s", (latestAsk, words, reflected) => {
    expect(audit(`${good}\n${words}`, { latestAsk }).length === 0).toBe(reflected);
  });

  it("adds by code what is missing under its heading, and passes then", () => {
    const extras = { identifiers: ["/etc/hosts"], latestAsk: "rename the failing suite quickly" };
    const problems = audit(good, extras);
    const amended = amendSummary(good, problems, extras.latestAsk)!;
    expect(audit(amended, extras)).toEqual([]);
    expect(amended).toContain("## Exact identifiers\n- /etc/hosts");
  });

  it("does not mend missing headings", () => {
    expect(amendSummary("nothing", audit("nothing"), undefined)).toBeUndefined();
  });
});

describe("identifiers to keep", () => {
  it("finds opaque ones in the last ten messages, newest first, words of people and model before tool output", () => {
    const call = toolCall("read", { path: "/srv/app/config.yaml" });
    const messages: AgentMessage[] = [
      user("old /too/old/path.txt"),
      ...Array.from({ length: 7 }, () => user("filler")),
      toolResult(call, "listening on 10.0.0.7:8443, commit 0f3a9c1"),
      assistant([call]),
      user("see https://example.com/a?b=1 and PROJ-17, order 4711003"),
    ];
    const found = identifiersToKeep(messages);
    expect(found.slice(0, 4)).toEqual([
      "https://example.com/a?b=1",
      "PROJ-17",
      "4711003",
      "/srv/app/config.yaml",
    ]);
    expect(found).toContain("10.0.0.7:8443");
    expect(found).toContain("0f3a9c1");
    expect(found).not.toContain("/too/old/path.txt");
  });

  it("names twelve at most", () => {
    const text = Array.from({ length: 40 }, (_, index) => `/var/log/app-${index}.log`).join(" ");
    expect(identifiersToKeep([user(text)])).toHaveLength(12);
  });

  it("leaves ordinary words alone", () => {
    expect(
      identifiersToKeep([
        user("Please make the summary shorter and use camelCase names, version 1.2.3 or so."),
      ]),
    ).toEqual([]);
  });
});

describe("keywords", () => {
  it("are words that say something, each once", () => {
    expect(
      keywordsOf("Could you please rename the Billing suite in src/billing.ts? Billing!"),
    ).toEqual(["rename", "billing", "suite", "src/billing.ts"]);
  });
});
