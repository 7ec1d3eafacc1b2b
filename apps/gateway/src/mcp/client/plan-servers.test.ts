// biome-ignore-all lint/suspicious/noTemplateCurlyInString: settings name variables so.
import { describe, expect, it } from "vitest";
import { checkConfigText } from "../../config/load.ts";
import { planServers } from "./plan-servers.ts";

const VARIABLES: Record<string, string> = {
  GITHUB_TOKEN: "ghp-0123456789",
  REGION: "eu-central-1",
  SHORT_TOKEN: "abc",
};
const environment = { variable: (name: string) => VARIABLES[name], userHome: "/home/p" };
const plan = (servers: object) =>
  planServers(
    checkConfigText(JSON.stringify({ mcp: { servers } }), "clew.json").config.mcp,
    environment,
  );

describe("a server of the settings", () => {
  it("is given the variables that are named, and its keys are known as such", () => {
    const [server] = plan({
      git: {
        ...{ command: "npx", args: ["server", "--region=${REGION}", "${GITHUB_TOKEN}"] },
        ...{ env: ["GITHUB_TOKEN", "REGION", "SHORT_TOKEN"], cwd: "~/work" },
      },
    });
    expect(server).toMatchObject({
      name: "git",
      reach: {
        ...{ kind: "program", command: "npx", cwd: "/home/p/work" },
        args: ["server", "--region=eu-central-1", "ghp-0123456789"],
        env: VARIABLES,
      },
      secrets: ["ghp-0123456789"],
      ...{ approval: "hints", connectTimeoutMs: 30_000, callTimeoutMs: 60_000 },
    });
    expect(server).not.toHaveProperty("problem");
  });

  it("is reached over HTTP with headers that are secret, whatever their names", () => {
    const [server] = plan({
      web: { url: "https://example.com/mcp", headers: { Authorization: "Bearer ${GITHUB_TOKEN}" } },
    });
    expect(server!.reach).toEqual({
      ...{ kind: "http", url: "https://example.com/mcp" },
      headers: { Authorization: "Bearer ghp-0123456789" },
    });
    expect(server!.secrets).toContain("ghp-0123456789");
  });

  it("has a problem where a variable is missing, and is none where it is switched off", () => {
    const servers = plan({
      b: { command: "x", env: ["NOT_THERE"], args: ["${NOR_THIS}"] },
      a: { command: "x", enabled: false },
    });
    expect(servers).toMatchObject([
      { name: "b", problem: "NOR_THIS, NOT_THERE are not set in the environment (mcp.servers.b)" },
    ]);
  });

  it.each([
    [{ x: {} }, /names either a command or a url/],
    [{ x: { command: "a", url: "http://b" } }, /names either a command or a url/],
    [{ "a b": { command: "x" } }, /mcp.servers.a b: has a name that cannot be one/],
    [{ x: { url: "https://user:pass@example.com/mcp" } }, /key or a password/],
    [{ x: { command: "x", env: ["A=b"] } }, /name of a variable/],
  ])("is refused where it is set up wrongly: %j", (servers, why) => {
    expect(() => plan(servers)).toThrow(why);
  });
});
