/// Architecture rules of the repository, each with its reason. Change a wrong rule in the commit that needs the change.
package dev.vivarium.architecture;
