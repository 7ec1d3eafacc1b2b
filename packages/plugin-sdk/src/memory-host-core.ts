// Exports what plugins read of the selected memory plugin.
export { buildActiveMemoryPromptSection, type MemoryPromptParams } from "./memory-prompt.ts";
