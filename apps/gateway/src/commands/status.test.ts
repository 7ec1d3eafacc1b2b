import { expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { describeStatus, type StatusFacts } from "./status.ts";

it("/status tells what the last turn shortened because no compaction helped", async () => {
  const { gateway } = await startTestGateway();
  const { data, text } = (await gateway.command("main", {
    kind: "command",
    name: "status",
    args: "",
  })) as { data: StatusFacts; text: string };
  expect(text).not.toContain("Shortened");
  const cut = { results: 2, freedTokens: 16_606 };
  expect(describeStatus({ ...data, compactions: { ...data.compactions, cut } })).toMatch(
    /\nShortened in the last turn, .*: 2 tool results, by about 16,606 tokens; the transcript has them whole$/,
  );
});

it("/status says once what the last call was not sent, and nothing where it was sent all", async () => {
  const { gateway } = await startTestGateway();
  const { data, text } = (await gateway.command("main", {
    kind: "command",
    name: "status",
    args: "",
  })) as { data: StatusFacts; text: string };
  expect(describeStatus(data)).toBe(text);
  expect(text).not.toContain("Not sent");
  const tier = "service tier flex (agents.defaults.params), which m does not have";
  const format = "the format of the answer (JSON), which m does not take beside tools";
  const asks = { ask: {}, leftOut: [tier], because: [tier] };
  const told = describeStatus({ ...data, asks, leftOut: [tier, format] });
  expect(told).toContain(`\nNot sent in the last call: ${format}\n`);
  expect(told.split(tier)).toHaveLength(2);
});
