import { describe, expect, it } from "vitest";
import { passThrough, testHost } from "../__fixtures__/host.ts";

describe("an engine that needs what this host lacks", () => {
  const engine = passThrough({
    info: {
      id: "threads",
      name: "Threads",
      hostRequirements: {
        "agent-run": {
          requiredCapabilities: ["compact", "thread-bootstrap-projection"],
          unsupportedMessage: "Use a host with threads.",
        },
      },
    },
  });

  it("stops the run before anything happened, with every missing capability, and is not quarantined", async () => {
    const host = testHost({ engine });
    await expect(host.say("hi")).rejects.toMatchObject({
      code: "HOST_CAPABILITY_MISSING",
      message:
        'Context engine "threads" cannot run operation "agent-run" on Clew embedded runner. Missing host capabilities: thread-bootstrap-projection. ' +
        "Required capabilities: compact, thread-bootstrap-projection. " +
        "Host capabilities: bootstrap, assemble-before-prompt, after-turn, maintain, compact, runtime-llm-complete. Use a host with threads.",
    });
    expect(host.ports.transcript.entries).toEqual([]);
    expect(host.registry.quarantine.list()).toEqual([]);
  });
});
