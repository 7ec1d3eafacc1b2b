import { expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { describeStatus, type StatusFacts } from "./status.ts";

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
