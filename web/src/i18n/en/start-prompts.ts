/** English texts for the form of example prompts. */
export const startPrompts = {
  "settings.prompts": "Example prompts",
  "startPrompts.intro": "Everyone sees them on the page of a new chat, exactly as written here.",
  "startPrompts.builtIn": "New chats show the built-in examples, in each person’s language.",
  "startPrompts.of": "Example {number}",
  "startPrompts.title": "Title (optional)",
  "startPrompts.text": "Prompt",
  "startPrompts.clickHint":
    "A click sends a prompt. If it ends with a colon, it goes into the message box to be completed.",
  "startPrompts.add": "Add example",
  "startPrompts.up": "Move example {number} up",
  "startPrompts.down": "Move example {number} down",
  "startPrompts.remove": "Remove example {number}",
  "startPrompts.removed": "Example removed",
  "startPrompts.missing": "Enter the prompt.",
  "startPrompts.tooLong": "Use at most {limit} characters, including the title.",
  "startPrompts.useBuiltIn": "Use the built-in examples",
  "startPrompts.usesBuiltIn": "New chats show the built-in examples",
};
