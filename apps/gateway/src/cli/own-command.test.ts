import { describe, expect, it } from "vitest";
import { asCalled, ownCommand } from "./own-command.ts";

describe("the command people are told to call", () => {
  it.each([
    ["/home/ann/clew/apps/gateway/dist", "start", "npm run clew --"],
    ["/home/ann/clew/apps/gateway/dist", "clew", "npm run clew --"],
    ["/home/ann/clew/apps/gateway/dist", undefined, "clew"],
    ["/home/ann/clew/apps/gateway/dist", "test", "clew"],
    ["/home/ann/project/node_modules/@clew/gateway/dist", "start", "clew"],
    ["/home/ann/.npm/_npx/0d1f/node_modules/@clew/gateway/dist", "npx", "npx @clew/gateway"],
    ["C:\\Users\\ann\\node_modules\\@clew\\gateway\\dist", undefined, "clew"],
  ])("from %s, run by the script %s, is %s", (folder, script, command) => {
    expect(ownCommand(folder, { variable: () => script })).toBe(command);
  });

  it("stands in the hints of errors as the person called it", () => {
    const hint = 'no gateway runs; "clew start" starts one, and clew is "clew"';
    expect(asCalled(hint, "npm run clew --")).toBe(
      'no gateway runs; "npm run clew -- start" starts one, and clew is "clew"',
    );
    expect(asCalled(hint, "clew")).toBe(hint);
  });
});
