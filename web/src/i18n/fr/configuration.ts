/** French texts for the configuration page. */
import type { configuration as en } from "../en/configuration.ts";
import type { Entry } from "../index.svelte.ts";

export const configuration: Record<keyof typeof en, Entry> = {
  "settings.configuration": "Configuration",
  "configuration.intro":
    "Paramètres avec lesquels ce serveur a démarré. Pour en modifier un, éditez {file} ou définissez sa variable d’environnement, puis redémarrez le serveur.",
  "configuration.introNoFile":
    "Paramètres avec lesquels ce serveur a démarré. Pour en modifier un, créez le fichier {file} ou définissez sa variable d’environnement, puis redémarrez le serveur.",
  "configuration.search": "Rechercher",
  "configuration.onlySet": "Paramètres modifiés uniquement",
  "configuration.none": "Aucun paramètre correspondant",
  "configuration.server": "Serveur",
  "configuration.secret": "(secret)",
  "configuration.default": "par défaut : {value}",
  "configuration.from.default": "Valeur par défaut",
  "configuration.from.file": "Défini dans le fichier",
  "configuration.from.environment": "Défini dans l’environnement",
  "configuration.from.flag": "Défini en ligne de commande",
};
