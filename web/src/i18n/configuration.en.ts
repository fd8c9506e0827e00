/** English texts for the configuration page. */
export const configuration = {
  "settings.configuration": "Configuration",
  "configuration.intro":
    "What this server was started with. To change it, write to {file}, set the environment variable, and start the server again.",
  "configuration.introNoFile":
    "What this server was started with. To change it, create the file {file}, or set the environment variable, and start the server again.",
  "configuration.search": "Search",
  "configuration.onlySet": "Only what was set here",
  "configuration.none": "No setting fits.",
  "configuration.server": "Server",
  "configuration.secret": "(secret)",
  "configuration.default": "default {value}",
  "configuration.from.default": "Default",
  "configuration.from.file": "From the file",
  "configuration.from.environment": "From the environment",
  "configuration.from.flag": "From a flag",
};
