import { describe, expect, it } from "vitest";
import { ownCommand } from "./own-command.ts";

describe("the command people are told to call", () => {
  it.each([
    ["/home/ann/clew/apps/gateway/dist", "npm run clew --"],
    ["/home/ann/project/node_modules/@clew/gateway/dist", "clew"],
    ["/home/ann/.npm/_npx/0d1f/node_modules/@clew/gateway/dist", "npx @clew/gateway"],
    ["C:\\Users\\ann\\node_modules\\@clew\\gateway\\dist", "clew"],
  ])("from %s is %s", (folder, command) => {
    expect(ownCommand(folder)).toBe(command);
  });
});
