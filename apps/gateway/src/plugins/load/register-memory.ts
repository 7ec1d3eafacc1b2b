// What a plugin's memory must have to be taken.
import type { MemoryCapability, PluginApi } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { Registering } from "./register.ts";

type MemoryMethods = Pick<
  PluginApi,
  | "registerMemoryCapability"
  | "registerMemoryPromptSection"
  | "registerMemoryFlushPlan"
  | "registerMemoryRuntime"
  | "registerMemoryPromptSupplement"
>;

/** Parts of one capability may come one by one; a part that comes again replaces the first. */
export function memoryMethods({ into, accepts, complain }: Registering): MemoryMethods {
  const add = (parts: Partial<MemoryCapability>) => {
    into.memory = { ...into.memory, ...parts };
  };
  const part = (key: PartName, method: string) => (given: unknown) => {
    if (!accepts("memory", "memory")) return;
    into.members.add(method);
    if (isPart(key, given)) add({ [key]: given });
    else complain(`${method} needs a ${NEEDS[key]}`);
  };
  return {
    registerMemoryCapability(capability) {
      if (!accepts("memory", "memory")) return;
      into.members.add("registerMemoryCapability");
      const given: unknown = capability;
      if (!isRecord(given))
        return complain("registerMemoryCapability needs an object with what the memory can do");
      add(
        Object.fromEntries(
          Object.entries(given).filter(([key, value]) => {
            if (value === undefined || value === null) return false;
            if (!isPartName(key) || isPart(key, value)) return true;
            complain(`the ${key} of the memory must be a ${NEEDS[key]}; it is left out`, "warning");
            return false;
          }),
        ),
      );
    },
    registerMemoryPromptSection: part("promptBuilder", "registerMemoryPromptSection"),
    registerMemoryFlushPlan: part("flushPlanResolver", "registerMemoryFlushPlan"),
    registerMemoryRuntime: part("runtime", "registerMemoryRuntime"),
    registerMemoryPromptSupplement(builder) {
      if (!accepts("memory", "memory supplement")) return;
      if (typeof builder === "function") into.memorySupplements.push(builder);
      else complain("registerMemoryPromptSupplement needs a function that returns lines");
    },
  };
}

type PartName = keyof typeof NEEDS;

const NEEDS = {
  promptBuilder: "function that returns lines",
  flushPlanResolver: "function that returns a plan",
  runtime: "runtime with getMemorySearchManager",
} as const;

const isPartName = (key: string): key is PartName => Object.hasOwn(NEEDS, key);

function isPart(key: PartName, given: unknown): boolean {
  if (key !== "runtime") return typeof given === "function";
  return isRecord(given) && typeof given.getMemorySearchManager === "function";
}
