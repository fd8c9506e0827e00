/** Spanish texts for the configuration page. */
export const configuration = {
  "settings.configuration": "Configuración del servidor",
  "configuration.intro":
    "Opciones con las que se inició este servidor. Para cambiar una, edita {file} o define su variable de entorno y reinicia el servidor.",
  "configuration.introNoFile":
    "Opciones con las que se inició este servidor. Para cambiar una, crea el archivo {file} o define su variable de entorno y reinicia el servidor.",
  "configuration.search": "Buscar",
  "configuration.onlySet": "Solo las modificadas",
  "configuration.none": "No hay opciones que coincidan",
  "configuration.server": "Servidor",
  "configuration.secret": "(secreto)",
  "configuration.default": "predeterminado: {value}",
  "configuration.from.default": "Predeterminado",
  "configuration.from.file": "Del archivo",
  "configuration.from.environment": "Del entorno",
  "configuration.from.flag": "De la línea de comandos",
};
