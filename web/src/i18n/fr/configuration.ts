/** French texts for the configuration page. */
import type { configuration as en } from "../en/configuration.ts";
import type { Entry } from "../index.svelte.ts";

export const configuration: Record<keyof typeof en, Entry> = {
  "settings.configuration": "Configuration",
  "configuration.intro":
    "Les modifications s’appliquent immédiatement, sans redémarrage. Les valeurs du fichier {file}, des variables d’environnement et de la ligne de commande sont prioritaires et ne se modifient qu’à cet endroit.",
  "configuration.search": "Rechercher",
  "configuration.show": "Afficher",
  "configuration.show.here": "Modifiables ici",
  "configuration.show.changed": "Différents de la valeur par défaut",
  "configuration.show.all": "Tous les paramètres",
  "configuration.none": "Aucun paramètre correspondant",
  "configuration.searchAll": "Rechercher dans tous les paramètres",
  "configuration.server": "Serveur",
  "configuration.secret": "(secret)",
  "configuration.default": "Par défaut : {value}",
  "configuration.reset": "Rétablir la valeur par défaut",
  "configuration.unsaved": "Non enregistré. Valeur actuelle : {value}",
  "configuration.zero": "0 : sans limite.",
  "configuration.noModel": "Aucun",
  "configuration.on": "Activé",
  "configuration.off": "Désactivé",
  "configuration.number": "Saisissez un nombre supérieur ou égal à 0.",
  "configuration.wholeNumber": "Saisissez un nombre entier supérieur ou égal à 0.",
  "configuration.changeUnder": "Modifier dans « {place} »",
  "configuration.place.start": "Lu au démarrage du serveur",
  "configuration.place.operator": "Seule la personne qui exploite le serveur peut le modifier",
  "configuration.from.default": "Valeur par défaut",
  "configuration.from.web_app": "Modifié dans l’application web",
  "configuration.from.file": "Défini dans {file}",
  "configuration.from.environment": "Défini par {variable}",
  "configuration.from.flag": "Défini en ligne de commande",
  "configuration.range": "Saisissez un nombre de {least} à {most}.",
};
