/// The rules the code keeps, each with its reason. A rule that is wrong is changed here, in the commit that needs it.
package dev.vivarium.architecture;
